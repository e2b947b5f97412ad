package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrule-dev/ferrule/audit"
	"github.com/ferrule-dev/ferrule/internal/config"
	"github.com/ferrule-dev/ferrule/store"
)

func (p *program) auditHeadCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Print a signed head of the record, to be kept elsewhere",
		Long: `Print where the record ends now, signed. Keep it where nobody can write who can
write to the store: ferrule audit verify --head FILE then shows that nothing that
is on the record now was taken away or written anew. The key is in the state
directory (audit.key); the head carries the public part of it.`,
		Example: `  ferrule audit head --out head.json`,
		Args:    exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			var head audit.Head
			err := p.withLog(cmd.Context(), func(s *store.Store) (err error) {
				if s == nil {
					return p.errNoLog()
				}
				head, err = s.Head(cmd.Context())
				return err
			})
			if err != nil {
				return err
			}
			text, err := head.JSON()
			if err != nil {
				return err
			}
			if out == "" {
				_, err := p.out.Write(text)
				return err
			}
			if err := writeNew(p.path(out), text); err != nil {
				return err
			}
			p.printf("The head of %s is in %s, signed with the key %s.\nKeep it where nobody can write who can write to the store.\n", counted(head.Place, len(head.Marks)), out, head.Key)
			return nil
		}),
	}
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write it to, which must not be there yet")
	return cmd
}

// writeNew writes a file that is not there yet.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usage("--out: %s is there already, and a head is not overwritten: it is what the record is compared with; name another file", path)
	}
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// counted says how much there is.
func counted(rows int64, writers int) string {
	return fmt.Sprintf("%s by %s", plural(rows, "entry", "entries"), plural(int64(writers), "writer", "writers"))
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (p *program) auditVerifyCommand() *cobra.Command {
	var v verifying
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Find out whether the record was changed",
		Long: `Follow the links of the whole record. That finds an entry that was changed, taken
out, put in or moved. With a head that was made earlier (ferrule audit head) it
also finds that the end was taken away, or that all of it was written anew.

It ends with 0 where the record is as it was written, or there never was one, and
with 1 where it is not, or is gone.`,
		Example: `  ferrule audit verify
  ferrule audit verify --head head.json
  ferrule audit verify --file record.jsonl`,
		Args: exactly(),
		RunE: p.do(func(cmd *cobra.Command, _ []string) error {
			if v.key != "" && v.head == "" {
				return usage("--key: got no --head, which the key is for")
			}
			if v.file != "" {
				return p.verifyFile(cmd.Context(), v)
			}
			c, err := p.load()
			if err != nil {
				return err
			}
			return p.withStore(cmd.Context(), c, false, func(s *store.Store) error {
				if s == nil {
					return p.verifyNothing(c, v)
				}
				return p.verifyStore(cmd.Context(), s, v)
			})
		}),
	}
	cmd.Flags().StringVar(&v.head, "head", "", "a `FILE` with a head that was made earlier")
	cmd.Flags().StringVar(&v.key, "key", "", "the public `KEY` that the head was signed with (default that of the store)")
	cmd.Flags().StringVar(&v.file, "file", "", "verify what was exported to this `FILE`, not the store")
	p.jsonFlag(cmd)
	return cmd
}

// verifying are the flags of verify.
type verifying struct{ head, key, file string }

// checked reads the head, if one is named, and checks its signature. known gives
// the key where none is named; nil: there is none.
func (p *program) checked(v verifying, known func() (audit.Key, error)) (*audit.Head, error) {
	if v.head == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := os.ReadFile(p.path(v.head))
	if err != nil {
		return nil, usage("--head: %w", plainly(err))
	}
	head, err := audit.ParseHead(text)
	if err != nil {
		return nil, usage("--head: %s: %w", v.head, err)
	}
	var key audit.Key
	switch {
	case v.key != "":
		if err := key.UnmarshalText([]byte(v.key)); err != nil {
			return nil, usage("--key: %w", err)
		}
	case known == nil:
		return nil, usage("--head: say with --key which public key it must be signed with: there is no store here to have one")
	default:
		if key, err = known(); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("audit: there is no key here (audit.key), so no head was signed with it, or the key was taken away. If you know that the head's key is right, name it: --key %s", head.Key)
		} else if err != nil {
			return nil, err
		}
	}
	switch err := head.Check(key); {
	case errors.Is(err, audit.ErrOtherKey):
		return nil, fmt.Errorf("audit: --head: %s was signed with the key %s, and not with %s: it is the head of another store, or the key was exchanged. It shows nothing. Where you know that its key is right, name it: --key %s", v.head, head.Key, key, head.Key)
	case err != nil:
		return nil, fmt.Errorf("audit: --head: %s: %w. It shows nothing", v.head, err)
	}
	return &head, nil
}

func (p *program) verifyStore(ctx context.Context, s *store.Store, v verifying) error {
	head, err := p.checked(v, s.Key)
	if err != nil {
		return err
	}
	defer p.busy("following the links of the record")()
	report, err := s.Verify(ctx, head)
	if err != nil {
		return err
	}
	return p.verdict(report, head)
}

// verifyNothing is verifyStore where there is no store: there never was a record,
// or it is gone.
func (p *program) verifyNothing(c *config.Config, v verifying) error {
	path := p.storeOf(c)
	trace, err := store.Trace(path)
	if err != nil {
		return err
	}
	var known func() (audit.Key, error)
	if trace != "" {
		known = func() (audit.Key, error) { return store.KeyOf(path) }
	}
	head, err := p.checked(v, known)
	switch {
	case err != nil:
		return err
	case head != nil:
		trace = p.path(v.head)
	case trace == "" && p.json:
		return p.verdict(audit.Report{}, nil)
	case trace == "":
		p.printf("There is no record yet: there is no store at %s, and nothing beside it says that there was one.\n", p.short(path))
		return nil
	}
	report, err := audit.Verify(func(func(audit.Row, error) bool) {}, head)
	report.Faults = append([]audit.Fault{{What: p.gone(c, trace)}}, report.Faults...)
	return errors.Join(err, p.verdict(report, head))
}

// verifyFile verifies what was exported.
func (p *program) verifyFile(ctx context.Context, v verifying) error {
	head, err := p.checked(v, nil)
	if err != nil {
		return err
	}
	f, err := os.Open(p.path(v.file))
	if err != nil {
		return usage("--file: %w", plainly(err))
	}
	defer p.busy("following the links of " + v.file)()
	report, err := audit.Verify(exported(ctx, f), head)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("audit: --file: %s: %w", v.file, err)
	}
	return p.verdict(report, head)
}

// exported reads rows that were exported.
func exported(ctx context.Context, r io.Reader) iter.Seq2[audit.Row, error] {
	return func(yield func(audit.Row, error) bool) {
		d := json.NewDecoder(bufio.NewReader(r))
		d.DisallowUnknownFields()
		for n := 1; ; n++ {
			var row audit.Row
			err := cmp.Or(ctx.Err(), d.Decode(&row))
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil && ctx.Err() == nil {
				err = fmt.Errorf("entry %d: got what `ferrule audit export` did not write: %w", n, err)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// verdictJSON is a verdict for programs.
type verdictJSON struct {
	Good    bool          `json:"good"`
	Entries int64         `json:"entries"`
	Writers []audit.Mark  `json:"writers"`
	Head    *time.Time    `json:"head,omitempty"`
	Faults  []audit.Fault `json:"faults"`
	More    int64         `json:"more_faults,omitempty"`
}

// verdict says what was found.
func (p *program) verdict(r audit.Report, head *audit.Head) error {
	good := len(r.Faults) == 0
	var result error
	if !good {
		n := int64(len(r.Faults)) + r.More
		result = fmt.Errorf("audit: the record is not as it was written: %s", plural(n, "fault", "faults"))
	}
	if p.json {
		out := verdictJSON{Good: good, Entries: r.Rows, Writers: append([]audit.Mark{}, r.Marks...), Faults: append([]audit.Fault{}, r.Faults...), More: r.More}
		if head != nil {
			out.Head = &head.Time
		}
		return cmp.Or(p.printJSON(out), result)
	}
	switch {
	case !good:
		p.printFaults(r)
	case r.Rows == 0 && head == nil:
		p.printf("Nothing is on the record.\n")
	case head == nil:
		p.printf("%s: each is as it was written, and none is missing between them.\n"+
			"Only a head shows that none was taken away from the end, or all written anew: ferrule audit head --out FILE makes one, to be kept elsewhere.\n", counted(r.Rows, len(r.Marks)))
	default:
		p.printf("%s: each is as it was written, and none is missing. All %d that were there when the head was made, at %s, are there.\n",
			counted(r.Rows, len(r.Marks)), head.Place, head.Time.UTC().Format(time.RFC3339))
	}
	return result
}

func (p *program) printFaults(r audit.Report) {
	for _, f := range r.Faults {
		p.printf("%s\n", visible(f.Error()))
	}
	if r.More > 0 {
		p.printf("and %s more\n", plural(r.More, "fault", "faults"))
	}
	if r.Rows == 0 {
		p.printf("\nSomebody who can write to the state directory has taken the record away without Ferrule, or moved it.\n" +
			"Put a copy of the store back, or find out who did it; what was exported can be verified with --file.\n")
		return
	}
	p.printf("\n%s were read. Somebody who can write to the store has changed it without Ferrule, or the disk has.\n"+
		"What a fault names cannot be relied on; what its writer wrote before it can. Keep the file as it is, and compare it with a copy or an export.\n", counted(r.Rows, len(r.Marks)))
}
