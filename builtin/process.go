package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/ferrule-dev/ferrule/sandbox"
	"github.com/ferrule-dev/ferrule/tool"
)

//go:embed texts/process_list.md
var processListText string

//go:embed texts/process_read.md
var processReadText string

//go:embed texts/process_stop.md
var processStopText string

// process is a command that runs, or has run.
type process struct {
	session   *shellSession
	box       *sandbox.Box
	running   *sandbox.Running
	id        string // once it is in the background
	line, dir string
	began     time.Time
	readOnly  bool
	out       *processOutput
}

// processPage is how many bytes one read gives: less than what a result may have,
// because what is cut from one would be lost. processWait is how many seconds it
// may wait.
const processPage, processWait = 32 << 10, 60

func (p *process) ended() bool {
	select {
	case <-p.running.Done():
		return true
	default:
		return false
	}
}

// goOn ends the call and lets the command live until its session ends.
func (p *process) goOn(ctx context.Context) (tool.Result, error) {
	if err := p.session.adopt(p); err != nil {
		p.running.Stop(shellSoon)
		return tool.Result{}, &tool.Error{Kind: tool.Failed, Text: err.Error(), Cause: err}
	}
	tool.From(ctx).WentOn(p.id)
	text := fmt.Sprintf("[%s goes on in the background: process_read gives its output, process_stop ends it]", p.id)
	if sofar := p.out.leave(p.session.host.Kept); sofar != "" {
		text += "\n" + sofar
	}
	return tool.Result{Content: shellContent(text)}, nil
}

// state says whether it runs, or how it ended.
func (p *process) state() string { return p.stateAs(p.ended()) }

// stateAs is how it stood when it was seen to have ended, or not to have.
func (p *process) stateAs(ended bool) string {
	if !ended {
		return "running for " + time.Since(p.began).Round(time.Second).String()
	}
	o := p.running.Wait()
	ending := strings.Trim(shellEnding(o, "", p.session.host.config.Limits), "[]")
	if ending == "stopped" && o.Signal != "" {
		ending = "stopped by signal " + strings.TrimPrefix(o.Signal, "SIG")
	}
	return shellOr(ending, "exit status 0") + " after " + o.Took.Round(time.Millisecond).String()
}

type processName struct {
	ID string `json:"id" jsonschema:"description=the id that shell gave such as p1"`
}

type processReading struct {
	ID      string `json:"id" jsonschema:"description=the id that shell gave such as p1"`
	Pattern string `json:"pattern,omitempty" jsonschema:"description=a regular expression (RE2): only lines that match are given"`
	Wait    int    `json:"wait,omitempty" jsonschema:"description=seconds to wait for new output or for the end,minimum=0,maximum=60"`
	From    *int64 `json:"from,omitempty" jsonschema:"description=read again from this place; default: behind the last read,minimum=0"`
}

// process finds one of the session that a call belongs to. Those of others are
// as if they were not there.
func (h *shellHost) process(ctx context.Context, id string) (*process, error) {
	var have []string
	for _, p := range h.background(ctx) {
		if p.id == id {
			return p, nil
		}
		have = append(have, p.id)
	}
	text := fmt.Sprintf("id: got %q, want the id of a background process: there is none in this session", id)
	if len(have) > 0 {
		text = fmt.Sprintf("id: got %q, want one of %s", id, strings.Join(have, ", "))
	}
	return nil, &tool.Error{Kind: tool.InvalidValue, Text: text}
}

func (h *shellHost) background(ctx context.Context) []*process {
	key, ok := shellKeyOf(ctx)
	if !ok {
		return nil
	}
	return h.find(key).processes()
}

// processClaims are those of the three tools: they touch the processes of the
// session, and no files. Where a read ends is remembered for the next one, which
// is no lasting state: it ends with the session, and what was read can be read
// again.
func processClaims(write bool) tool.Claims {
	return tool.Claims{ReadOnly: !write, Local: true, Idempotent: write, Touches: []tool.Access{{Resource: "process:", Write: write}}}
}

func (h *shellHost) processList() (*tool.Tool, error) {
	return tool.New(tool.Info{
		Name: "process_list", Description: h.fill(processListText), Tags: []string{"shell"},
		Claims: processClaims(false), Cooperative: true, Cancel: true, Repeatable: true,
	}, func(ctx context.Context, _ struct{}) (string, error) {
		var b strings.Builder
		for _, p := range h.background(ctx) {
			line, rest, more := strings.Cut(p.line, "\n")
			if more {
				line += fmt.Sprintf(" [and %d lines]", strings.Count(rest, "\n")+1)
			}
			fmt.Fprintf(&b, "%s: %s, %d bytes to read: %s\n", p.id, p.state(), p.out.unread(), line)
		}
		return shellOr(strings.TrimSuffix(b.String(), "\n"), "There are no background processes."), nil
	})
}

func (h *shellHost) processRead() (*tool.Tool, error) {
	return tool.New(tool.Info{
		Name: "process_read", Description: h.fill(processReadText), Tags: []string{"shell"},
		Claims: processClaims(false), Cooperative: true, Cancel: true, Repeatable: true,
		Timeout: processWait*time.Second + shellGrace,
	}, func(ctx context.Context, in processReading) (string, error) {
		p, err := h.process(ctx, in.ID)
		if err != nil {
			return "", err
		}
		var chosen func(string) bool
		if in.Pattern != "" {
			re, err := regexp.Compile(in.Pattern)
			if err != nil {
				return "", &tool.Error{Kind: tool.InvalidValue, Text: "pattern: " + err.Error()}
			}
			chosen = re.MatchString
		}
		return p.await(ctx, in, chosen)
	})
}

// await reads, and where there is nothing waits as long as it was told to.
func (p *process) await(ctx context.Context, in processReading, chosen func(string) bool) (string, error) {
	timer := time.NewTimer(time.Duration(in.Wait) * time.Second)
	defer timer.Stop()
	dropped := int64(0)
	for wait := in.Wait > 0; ; {
		ended := p.ended()
		piece, news := p.out.take(in.From, chosen, ended)
		piece.dropped += dropped
		if piece.text != "" || ended || !wait {
			return p.report(piece, ended), nil
		}
		dropped = piece.dropped
		if in.From != nil {
			in.From = &piece.next
		}
		select {
		case <-news:
		case <-p.running.Done():
		case <-timer.C:
			wait = false
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// report is what the model reads: how it stood when the piece was taken, then what
// is new. What ended meanwhile may have said more.
func (p *process) report(piece processPiece, ended bool) string {
	text := fmt.Sprintf("[%s %s; read up to %d", p.id, p.stateAs(ended), piece.next)
	switch {
	case piece.more:
		text += ", and there is more: read again"
	case piece.text == "":
		text += ", nothing new"
	}
	text += "]"
	if piece.dropped > 0 {
		text += fmt.Sprintf("\n[%d bytes before this are gone]", piece.dropped)
	}
	if piece.text != "" {
		text += "\n" + piece.text
	}
	return text
}

func (h *shellHost) processStop() (*tool.Tool, error) {
	return tool.New(tool.Info{
		Name: "process_stop", Description: h.fill(processStopText), Tags: []string{"shell"},
		Claims: processClaims(true), Cooperative: true, Cancel: true,
		// It ends only what this session was allowed to start.
		Approval: tool.AskNever,
	}, func(ctx context.Context, in processName) (string, error) {
		p, err := h.process(ctx, in.ID)
		if err != nil {
			return "", err
		}
		p.running.Stop(shellLong)
		select {
		case <-p.running.Done():
		case <-ctx.Done():
			return "", ctx.Err()
		}
		text := fmt.Sprintf("[%s %s]", p.id, p.state())
		if n := p.out.unread(); n > 0 {
			text += fmt.Sprintf("\n[%d bytes of output are left for process_read]", n)
		}
		return text, nil
	})
}
