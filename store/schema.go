package store

import (
	"context"
	"database/sql"
	"fmt"
)

// application is how SQLite's header says that a file is a store of Ferrule:
// "FRUL".
const application = 0x4652554c

// migrations make each version of the store from the one before. One that was
// released is never changed.
//
// A time is text in UTC that sorts as the times do; ” is none. What is called
// body, question, answer, call or outcome is sealed: see seal.
func migrations() []string {
	return []string{`
CREATE TABLE questions (
	place   INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order of arrival
	id      TEXT NOT NULL UNIQUE,
	digest  TEXT NOT NULL,
	asked   TEXT NOT NULL,
	expires TEXT NOT NULL,
	body    TEXT NOT NULL, -- '': it is over
	over    TEXT NOT NULL DEFAULT '', -- or used, rejected, withdrawn, expired
	answer  INTEGER, -- its number
	forget  TEXT NOT NULL -- when nothing is kept of it any more
) STRICT;
CREATE INDEX questions_open ON questions (asked, place) WHERE answer IS NULL AND over = '';
CREATE INDEX questions_forget ON questions (forget);
CREATE TABLE answers (
	number    INTEGER PRIMARY KEY AUTOINCREMENT, -- grows; none is given twice
	id        TEXT NOT NULL, -- of the question
	at        TEXT NOT NULL,
	withdrawn INTEGER NOT NULL,
	used      INTEGER NOT NULL DEFAULT 0,
	question  TEXT NOT NULL,
	answer    TEXT NOT NULL
) STRICT;
CREATE INDEX answers_at ON answers (at);
CREATE TABLE grants (
	place     INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT NOT NULL UNIQUE,
	tenant    TEXT NOT NULL,
	principal TEXT NOT NULL,
	session   TEXT NOT NULL,
	made      TEXT NOT NULL,
	kept      TEXT NOT NULL, -- since when
	body      TEXT NOT NULL
) STRICT;
CREATE INDEX grants_for ON grants (tenant, principal);
CREATE INDEX grants_kept ON grants (kept) WHERE session <> '';
CREATE TABLE sessions (
	place     INTEGER PRIMARY KEY AUTOINCREMENT,
	tenant    TEXT NOT NULL,
	principal TEXT NOT NULL,
	session   TEXT NOT NULL,
	touched   TEXT NOT NULL, -- when somebody last asked for it, to the day
	body      TEXT NOT NULL,
	UNIQUE (tenant, principal, session)
) STRICT;
CREATE INDEX sessions_touched ON sessions (touched);
CREATE TABLE counters (
	key     TEXT NOT NULL PRIMARY KEY,
	until   TEXT NOT NULL,
	calls   INTEGER NOT NULL,
	touched TEXT NOT NULL -- when it was last charged, to the day where it was full
) STRICT, WITHOUT ROWID;
CREATE INDEX counters_until ON counters (until) WHERE until <> '';
CREATE INDEX counters_touched ON counters (touched) WHERE until = '';
CREATE TABLE calls (
	number    INTEGER PRIMARY KEY, -- grows in the order in which they began
	id        TEXT NOT NULL,
	tenant    TEXT NOT NULL,
	principal TEXT NOT NULL,
	session   TEXT NOT NULL,
	turn      INTEGER NOT NULL,
	place     INTEGER NOT NULL, -- in the turn
	key       TEXT NOT NULL, -- what it answers for; '': nothing, or no longer
	owner     TEXT NOT NULL, -- who began it
	attempt   INTEGER NOT NULL,
	touched   TEXT NOT NULL, -- when it began or ended
	call      TEXT NOT NULL,
	outcome   TEXT NOT NULL -- '': it is running
) STRICT;
CREATE UNIQUE INDEX calls_place ON calls (session, turn, place, principal, tenant);
CREATE UNIQUE INDEX calls_key ON calls (key) WHERE key <> '';
CREATE TABLE log (
	place  INTEGER PRIMARY KEY, -- from 1, without a gap
	writer INTEGER NOT NULL, -- the key of one
	number INTEGER NOT NULL, -- of what this writer wrote, from 1
	call   TEXT NOT NULL, -- '': it is of none
	line   TEXT NOT NULL,
	hash   BLOB NOT NULL
) STRICT;
CREATE INDEX log_call ON log (call) WHERE call <> '';
CREATE TABLE log_writers (
	key    INTEGER PRIMARY KEY,
	writer TEXT NOT NULL UNIQUE,
	number INTEGER NOT NULL, -- of the last line
	hash   BLOB NOT NULL -- of the last line
) STRICT;
CREATE TABLE log_name (
	name   TEXT NOT NULL, -- of the log, in its heads
	headed TEXT NOT NULL -- when the last head was made
) STRICT;
INSERT INTO log_name (name, headed) VALUES (lower(hex(randomblob(16))), '');
CREATE TABLE blobs (
	owner  TEXT NOT NULL,
	handle TEXT NOT NULL,
	put    TEXT NOT NULL, -- when it was put last
	body   TEXT NOT NULL,
	PRIMARY KEY (owner, handle)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_put ON blobs (put);
`, `
ALTER TABLE log_writers ADD COLUMN jotted INTEGER NOT NULL DEFAULT 0; -- the number of the last line that was appended
`, `
ALTER TABLE questions ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- who alone goes on with the call; '': whoever does
`, `
CREATE INDEX questions_digest ON questions (digest) WHERE over = ''; -- that an equal call may go on from
`, `
ALTER TABLE grants ADD COLUMN source TEXT NOT NULL DEFAULT ''; -- these two find a grant; what it says is its body
ALTER TABLE grants ADD COLUMN pin TEXT NOT NULL DEFAULT '';
UPDATE grants SET
	source = coalesce(json_extract(substr(body, instr(body, ' ') + 1), '$.source'), ''),
	pin = coalesce(json_extract(substr(body, instr(body, ' ') + 1), '$.pin'), '')
	WHERE json_valid(substr(body, instr(body, ' ') + 1)); -- of one that was changed reading says so
CREATE INDEX grants_about ON grants (tenant, principal, source, pin);
DROP INDEX grants_for;
`, `
CREATE INDEX log_tool ON log (` + toolOf + `) WHERE ` + isRequest + `;
CREATE INDEX log_session ON log (` + sessionOf + `) WHERE ` + isRequest + `;
CREATE INDEX log_question ON log (` + questionOf + `) WHERE ` + isOfQuestion + `;
CREATE INDEX calls_open ON calls (number) WHERE outcome = '';
`}
}

// What stands in a line of the log, as its indexes have it. A quote within a text has a
// backslash before it, so what is found is a key and no text; one that is another key of
// that name, or ends at an escaped quote, is told from it when the line is read. They are
// part of a migration: they are never changed.
const (
	isRequest    = `instr(line, '"kind":"requested"') > 0`
	isOfQuestion = `instr(line, '"question":"') > 0`
	toolOf       = `substr(line, instr(line, '"tool":"') + 8, instr(substr(line, instr(line, '"tool":"') + 8), '"') - 1)`
	sessionOf    = `substr(line, instr(line, '"session":"') + 11, instr(substr(line, instr(line, '"session":"') + 11), '"') - 1)`
	questionOf   = `substr(line, instr(line, '"question":"') + 12, instr(substr(line, instr(line, '"question":"') + 12), '"') - 1)`
)

// examine reports what a file is, if it is no store or a damaged one. It reads
// all of it.
func examine(ctx context.Context, db *sql.DB) error {
	// In one transaction: another process may be about to make it a store.
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var tables int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	app, version, err := identity(ctx, tx)
	if err != nil {
		return err
	}
	switch {
	case app == 0 && version == 0 && tables == 0: // new
		return nil
	case app != application:
		return fmt.Errorf("got the database of another application (with the application id %#x), want a store of Ferrule (%#x): give another path", app, application)
	}
	if err := notNewer(version); err != nil {
		return err
	}
	// The first takes each index for what it should be. One that has lost a call
	// would let it run again.
	for _, check := range []string{"PRAGMA quick_check(1)", "PRAGMA integrity_check(calls)"} {
		var found string
		if err := tx.QueryRowContext(ctx, check).Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			return &damage{found}
		}
	}
	return nil
}

// current refuses a store that a newer program has brought to its version, also
// while it was open here.
func current(ctx context.Context, db querier) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	return notNewer(version)
}

// notNewer refuses what a newer program has written.
func notNewer(version int) error {
	if want := len(migrations()); version > want {
		return fmt.Errorf("got a store of version %d, want %d or older: a newer Ferrule has written it; use that one, or give another path", version, want)
	}
	return nil
}

// querier is a database, a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func identity(ctx context.Context, db querier) (app, version int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, 0, err
	}
	err = db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return app, version, err
}

// useWAL has SQLite write ahead to a log, so that who reads waits for nobody.
func useWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("got the journal mode %q, want wal: the file system cannot share memory between processes; give a path on a local disk", mode)
	}
	return nil
}

// migrate brings the file to the version of this program. Several processes may
// try it at once: each looks again when it is its turn.
func migrate(ctx context.Context, tx *sql.Tx) error {
	_, version, err := identity(ctx, tx)
	if err != nil {
		return err
	}
	all := migrations()
	if version >= len(all) {
		return notNewer(version)
	}
	for i, step := range all[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("to version %d: %w", version+i+1, err)
		}
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, len(all)))
	return err
}
