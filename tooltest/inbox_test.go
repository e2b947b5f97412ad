package tooltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ferrule-dev/ferrule/policy"
	"github.com/ferrule-dev/ferrule/tooltest"
)

// faultyInboxes each break one promise; found is the subtest that must see it.
func faultyInboxes() map[string]struct {
	inbox func() policy.Inbox
	found string
} {
	type fault = struct {
		inbox func() policy.Inbox
		found string
	}
	return map[string]fault{
		"uses twice":       {func() policy.Inbox { return &usesTwice{kept: make(map[string]policy.Answer)} }, "P5_an_answer_is_used_once"},
		"any digest":       {func() policy.Inbox { return &anyDigest{digests: make(map[string]string)} }, "P5_another_digest"},
		"never too late":   {func() policy.Inbox { return &neverLate{} }, "P5_a_late_answer_is_refused"},
		"keeps the clock":  {func() policy.Inbox { return &noClock{} }, "P5_a_clock_before"},
		"takes any rule":   {func() policy.Inbox { return &anyRule{} }, "P5_an_answer_that_the_question_does_not_allow"},
		"latest first":     {func() policy.Inbox { return &latestFirst{} }, "P6_what_is_not_answered_is_listed"},
		"tells nobody":     {func() policy.Inbox { return &tellsNobody{} }, "P6_a_watcher_hears_of_each_answer"},
		"never stops":      {func() policy.Inbox { return &neverStops{} }, "P6_a_watcher_hears_of_each_answer"},
		"finds everything": {func() policy.Inbox { return &findsAll{asked: make(map[string]policy.Question)} }, "P6_find"},
		"any of a digest":  {func() policy.Inbox { return &anyOfDigest{} }, "P6_who_makes_a_call_again"},
		"keeps seconds":    {func() policy.Inbox { return &keepsSeconds{} }, "P4_what_is_listed_and_found"},
		"lends its memory": {func() policy.Inbox { return &lends{} }, "P5_what_goes_in_and_comes_out"},
		"drops a field":    {func() policy.Inbox { return &dropsField{} }, "P4_what_is_listed_and_found"},
		"drops the key":    {func() policy.Inbox { return &dropsKey{} }, "P5_a_question_goes_in"},
		"makes no rule":    {func() policy.Inbox { return &makesNone{} }, "P5_a_yes_that_lasts"},
		"rules too early":  {func() policy.Inbox { return &rulesEarly{} }, "P5_an_answer_that_is_refused"},
		"rules too late":   {func() policy.Inbox { return &rulesLate{asked: make(map[string]policy.Question)} }, "P5_a_rule_that_is_revoked"},
		"rules for losers": {func() policy.Inbox { return &rulesEarly{} }, "P5_of_many_lasting_answers"},
	}
}

// usesTwice hands an answer out again.
type usesTwice struct {
	policy.Memory
	mu   sync.Mutex
	kept map[string]policy.Answer
}

func (i *usesTwice) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.Memory.Use(ctx, id, digest)
	if errors.Is(err, policy.ErrUsed) {
		return i.kept[id], nil
	}
	i.kept[id] = a
	return a, err
}

// anyDigest does not look what an answer is about.
type anyDigest struct {
	policy.Memory
	mu      sync.Mutex
	digests map[string]string
}

func (i *anyDigest) Ask(ctx context.Context, q policy.Question) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.digests[q.ID] = q.Digest
	return i.Memory.Ask(ctx, q)
}

func (i *anyDigest) Use(ctx context.Context, id, _ string) (policy.Answer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.Memory.Use(ctx, id, i.digests[id])
}

type neverLate struct{ policy.Memory }

func (i *neverLate) Ask(ctx context.Context, q policy.Question) error {
	q.Expires = time.Time{}
	return i.Memory.Ask(ctx, q)
}

type noClock struct{ policy.Memory }

func (i *noClock) Ask(ctx context.Context, q policy.Question) error {
	q.Asked = time.Time{}
	return i.Memory.Ask(ctx, q)
}

type anyRule struct{ policy.Memory }

func (i *anyRule) Answer(ctx context.Context, id string, a policy.Answer) error {
	q, err := i.Find(ctx, id)
	if err == nil && q.Check(a) != nil {
		a.Rule, a.Always = "", false
	}
	return i.Memory.Answer(ctx, id, a)
}

type latestFirst struct{ policy.Memory }

func (i *latestFirst) Pending(ctx context.Context) ([]policy.Question, error) {
	list, err := i.Memory.Pending(ctx)
	slices.Reverse(list)
	return list, err
}

type tellsNobody struct{ policy.Memory }

func (*tellsNobody) Watch(func(string)) func() { return func() {} }

type neverStops struct{ policy.Memory }

func (i *neverStops) Watch(f func(string)) func() {
	i.Memory.Watch(f)
	return func() {}
}

type findsAll struct {
	policy.Memory
	mu    sync.Mutex
	asked map[string]policy.Question
}

func (i *findsAll) Ask(ctx context.Context, q policy.Question) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked[q.ID] = q
	return i.Memory.Ask(ctx, q)
}

func (i *findsAll) Find(_ context.Context, id string) (policy.Question, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[id], nil
}

// anyOfDigest gives questions of turns to who makes the call again.
type anyOfDigest struct{ policy.Memory }

func (i *anyOfDigest) Ask(ctx context.Context, q policy.Question) error {
	q.Again = true
	return i.Memory.Ask(ctx, q)
}

type keepsSeconds struct{ policy.Memory }

func (i *keepsSeconds) Ask(ctx context.Context, q policy.Question) error {
	q.Asked = q.Asked.Truncate(time.Second)
	return i.Memory.Ask(ctx, q)
}

type lends struct {
	policy.Memory
	mu     sync.Mutex
	offers []string
}

func (i *lends) Ask(ctx context.Context, q policy.Question) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.offers = q.Offers
	return i.Memory.Ask(ctx, q)
}

func (i *lends) Find(ctx context.Context, id string) (policy.Question, error) {
	q, err := i.Memory.Find(ctx, id)
	i.mu.Lock()
	defer i.mu.Unlock()
	q.Offers = i.offers
	return q, err
}

// dropsField forgets what an older version did not have.
type dropsField struct{ policy.Memory }

func (i *dropsField) Ask(ctx context.Context, q policy.Question) error {
	q.Given, q.Hooked = "", ""
	return i.Memory.Ask(ctx, q)
}

type dropsKey struct{ policy.Memory }

func (i *dropsKey) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	a, err := i.Memory.Use(ctx, id, digest)
	a.Second = false
	return a, err
}

// makesNone leaves it to others to make rules.
type makesNone struct{ policy.Memory }

func (i *makesNone) Answer(ctx context.Context, id string, a policy.Answer) error {
	q, _ := i.Find(ctx, id)
	err := i.Memory.Answer(ctx, id, a)
	if g, ok := q.Grant(a, time.Now()); ok {
		_ = i.Revoke(ctx, g.ID)
	}
	return err
}

// rulesEarly makes a rule before it knows whether the answer is taken.
type rulesEarly struct{ policy.Memory }

func (i *rulesEarly) Answer(ctx context.Context, id string, a policy.Answer) error {
	if q, err := i.Find(ctx, id); err == nil && a.Rule != "" {
		_, _ = i.Grant(ctx, policy.Grant{Rule: a.Rule, Caller: q.Caller, By: a.By, Made: time.Now()})
	}
	return i.Memory.Answer(ctx, id, a)
}

// rulesLate makes the rule once more when the answer is used.
type rulesLate struct {
	policy.Memory
	mu    sync.Mutex
	asked map[string]policy.Question
}

func (i *rulesLate) Ask(ctx context.Context, q policy.Question) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked[q.ID] = q
	return i.Memory.Ask(ctx, q)
}

func (i *rulesLate) Use(ctx context.Context, id, digest string) (policy.Answer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a, err := i.Memory.Use(ctx, id, digest)
	if g, ok := i.asked[id].Grant(a, time.Now()); ok && err == nil {
		_, _ = i.Grant(ctx, g)
	}
	return a, err
}

// faultyLedgers each break one promise; found is the subtest that must see it.
func faultyLedgers() map[string]struct {
	ledger func() policy.Ledger
	found  string
} {
	type fault = struct {
		ledger func() policy.Ledger
		found  string
	}
	return map[string]fault{
		"keeps what failed": {func() policy.Ledger { return &keepsFailed{} }, "P10_an_error_of_change"},
		"one for all":       {func() policy.Ledger { return &oneForAll{} }, "P10_tenant,_principal_and_session"},
		"counts by some":    {func() policy.Ledger { return &countsSome{} }, "P9_counted_by_each"},
		"no budget":         {func() policy.Ledger { return &noBudget{} }, "P9_a_budget_is_for_ever"},
		"grants to all":     {func() policy.Ledger { return &grantsAll{} }, "P5_grants_are_listed"},
		"of all tools":      {func() policy.Ledger { return &grantsOfAllTools{} }, "P5_of_some_tools"},
		"those with a pin":  {func() policy.Ledger { return &grantsByPin{} }, "P5_of_some_tools"},
		"never revokes":     {func() policy.Ledger { return &neverRevokes{} }, "P5_what_was_revoked"},
		"loses changes":     {func() policy.Ledger { return &losesChanges{} }, "P10_many_changes_at_once"},
		"renews":            {func() policy.Ledger { return &renews{} }, "P5_equal_grants_are_one"},
	}
}

type keepsFailed struct{ policy.Memory }

func (l *keepsFailed) Update(ctx context.Context, of policy.Asker, change func(*policy.SessionState) error) (policy.SessionState, error) {
	var failed error
	s, err := l.Memory.Update(ctx, of, func(s *policy.SessionState) error {
		if change != nil {
			failed = change(s)
		}
		return nil
	})
	if failed != nil {
		return policy.SessionState{}, failed
	}
	return s, err
}

type oneForAll struct{ policy.Memory }

func (l *oneForAll) Update(ctx context.Context, of policy.Asker, change func(*policy.SessionState) error) (policy.SessionState, error) {
	of.Tenant = ""
	return l.Memory.Update(ctx, of, change)
}

type countsSome struct{ policy.Memory }

func (l *countsSome) Take(ctx context.Context, charges []policy.Charge) (int, time.Duration, error) {
	for i, c := range charges {
		if full, wait, err := l.Memory.Take(ctx, []policy.Charge{c}); full >= 0 || err != nil {
			return i, wait, err
		}
	}
	return -1, 0, nil
}

type noBudget struct{ policy.Memory }

func (l *noBudget) Take(ctx context.Context, charges []policy.Charge) (int, time.Duration, error) {
	some := slices.DeleteFunc(slices.Clone(charges), func(c policy.Charge) bool { return c.Per == 0 && c.Calls > 0 })
	return l.Memory.Take(ctx, some)
}

type grantsAll struct{ policy.Memory }

func (l *grantsAll) Grants(ctx context.Context, _ policy.Asker, tools ...policy.Grant) ([]policy.Grant, error) {
	return l.Memory.Grants(ctx, policy.Asker{}, tools...)
}

type grantsOfAllTools struct{ policy.Memory }

func (l *grantsOfAllTools) Grants(ctx context.Context, of policy.Asker, _ ...policy.Grant) ([]policy.Grant, error) {
	return l.Memory.Grants(ctx, of)
}

type grantsByPin struct{ policy.Memory }

func (l *grantsByPin) Grants(ctx context.Context, of policy.Asker, tools ...policy.Grant) ([]policy.Grant, error) {
	list, err := l.Memory.Grants(ctx, of, tools...)
	return slices.DeleteFunc(list, func(g policy.Grant) bool { return len(tools) > 0 && g.Pin != tools[0].Pin }), err
}

type neverRevokes struct{ policy.Memory }

func (*neverRevokes) Revoke(context.Context, string) error { return nil }

type losesChanges struct{ policy.Memory }

func (l *losesChanges) Update(ctx context.Context, of policy.Asker, change func(*policy.SessionState) error) (policy.SessionState, error) {
	had, err := l.Memory.Update(ctx, of, nil)
	if err != nil || change == nil {
		return had, err
	}
	if err := change(&had); err != nil {
		return policy.SessionState{}, err
	}
	<-time.After(time.Millisecond) // so that others come in between
	return l.Memory.Update(ctx, of, func(s *policy.SessionState) error { *s = had; return nil })
}

type renews struct{ policy.Memory }

func (l *renews) Grant(ctx context.Context, g policy.Grant) (string, error) {
	_ = l.Revoke(ctx, g.Name())
	return l.Memory.Grant(ctx, g)
}

const (
	inboxEnv  = "TOOLTEST_FAULTY_INBOX"
	ledgerEnv = "TOOLTEST_FAULTY_LEDGER"
)

// fails wants a test of this binary to fail in a subtest.
func fails(t *testing.T, env, name, test, found string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Only what must fail is run: a fault may make another subtest wait for long.
	cmd := exec.CommandContext(t.Context(), self, fmt.Sprintf("-test.run=^%s$/^%s", test, found))
	cmd.Env = append(os.Environ(), env+"="+name, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--- FAIL: "+test+"/"+found) {
		t.Errorf("got %v, want %q to fail:\n%s", err, found, out)
	}
}

func TestInboxFindsFaults(t *testing.T) {
	if fault := os.Getenv(inboxEnv); fault != "" {
		tooltest.Inbox(t, func(*testing.T) policy.Inbox { return faultyInboxes()[fault].inbox() })
		return
	}
	t.Parallel()
	for name, f := range faultyInboxes() {
		t.Run("P5 "+name, func(t *testing.T) {
			t.Parallel()
			fails(t, inboxEnv, name, "TestInboxFindsFaults", f.found)
		})
	}
}

func TestLedgerFindsFaults(t *testing.T) {
	if fault := os.Getenv(ledgerEnv); fault != "" {
		tooltest.Ledger(t, func(*testing.T) policy.Ledger { return faultyLedgers()[fault].ledger() })
		return
	}
	t.Parallel()
	for name, f := range faultyLedgers() {
		t.Run("P9 "+name, func(t *testing.T) {
			t.Parallel()
			fails(t, ledgerEnv, name, "TestLedgerFindsFaults", f.found)
		})
	}
}
