package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// realServer is a server from npm with calls of every tool that needs no network.
type realServer struct {
	upstream
	calls []toolCall
}

// realServers are the servers, with what they work on in one folder that is laid
// out anew before each client comes: what a call returns depends on those before
// it. No server touches what another one works on.
func (w *world) realServers(work string) []realServer {
	npm := func(name, pkg string, env map[string]string, args ...string) upstream {
		return upstream{
			name: name, env: env, dir: work,
			command: append([]string{w.tools.node(), w.tools.script("servers", pkg+"/dist/index.js")}, args...),
		}
	}
	git := map[string]string{ // the same commits have the same hash
		"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error", "GIT_SIGN_COMMITS": "false",
		"GIT_AUTHOR_DATE": fixedDate, "GIT_COMMITTER_DATE": fixedDate,
		"GIT_CONFIG_GLOBAL": filepath.Join(work, "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
		"LOGS_DIR": filepath.Join(w.dir, "gitlogs"),
	}
	return []realServer{
		{npm("everything", "@modelcontextprotocol/server-everything", nil), everythingCalls()},
		{npm("files", "@modelcontextprotocol/server-filesystem", nil, filepath.Join(work, "files")), fileCalls(filepath.Join(work, "files"))},
		{npm("memory", "@modelcontextprotocol/server-memory", map[string]string{"MEMORY_FILE_PATH": filepath.Join(work, "memory.jsonl")}), memoryCalls()},
		{npm("thinking", "@modelcontextprotocol/server-sequential-thinking", map[string]string{"DISABLE_THOUGHT_LOGGING": "true"}), thinkingCalls()},
		{npm("git", "@cyanheads/git-mcp-server", git), gitCalls(work)},
		{npm("dbhub", "@bytebase/dbhub", nil, "--demo", "--transport", "stdio"), databaseCalls()},
	}
}

const fixedDate = "2026-01-02T03:04:05Z"

// layOut makes the folder that the servers work on, always the same.
func layOut(ctx context.Context, work string) error {
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	text := map[string]string{
		"files/a.txt":     "one\ntwo\nthree\n",
		"files/sub/b.txt": "deep\n",
		"files/dot.png":   "\x89PNG\r\n\x1a\n",
		"repo/a.txt":      "one\n",
		"gitconfig":       "[user]\n\tname = E2E\n\temail = e2e@example.com\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n",
	}
	date, err := time.Parse(time.RFC3339, fixedDate)
	if err != nil {
		return err
	}
	for name, content := range text {
		path := filepath.Join(work, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, date, date); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "repo"},
		{"-C", "repo", "add", "-A"},
		{"-C", "repo", "commit", "-q", "-m", "feat: first"},
		{"-C", "repo", "tag", "v0.1.0"},
		{"clone", "-q", "--bare", "repo", "origin.git"},
		{"-C", "repo", "remote", "add", "origin", filepath.Join(work, "origin.git")},
	} {
		cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the arguments are above
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+fixedDate, "GIT_COMMITTER_DATE="+fixedDate,
			"GIT_CONFIG_GLOBAL="+filepath.Join(work, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %q: %w: %s", args, err, out)
		}
	}
	return nil
}

type object = map[string]any

func everythingCalls() []toolCall {
	return []toolCall{
		{"echo", object{"message": "héllo \u2028 <b>&amp;</b> 😀"}},
		{"echo", object{}}, // an argument is missing
		{"get-annotated-message", object{"messageType": "error", "includeImage": true}},
		{"get-env", nil},
		{"get-resource-links", object{"count": 3}},
		{"get-resource-reference", object{"resourceType": "Text", "resourceId": 1}},
		{"get-structured-content", object{"location": "New York"}},
		{"get-sum", object{"a": 1e21, "b": 0.1}},
		{"get-tiny-image", nil},
		{"gzip-file-as-resource", object{"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}},
		{"toggle-simulated-logging", nil},
		{"toggle-subscriber-updates", nil},
		{"trigger-long-running-operation", object{"duration": 0.2, "steps": 2}},
		{"get-roots-list", nil},
		{"trigger-elicitation-request", nil},
		{"trigger-url-elicitation", object{"url": "https://example.com", "elicitationId": "one"}},
		{"trigger-url-elicitation", object{"url": "https://example.com", "errorPath": true}}, // an error with data
		{"trigger-sampling-request", object{"prompt": "hello", "maxTokens": 7}},
		{"simulate-research-query", object{"topic": "tea"}},
	}
}

func fileCalls(dir string) []toolCall {
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	return []toolCall{
		{"list_allowed_directories", nil},
		{"read_file", object{"path": at("a.txt")}},
		{"read_text_file", object{"path": at("a.txt"), "head": 1}},
		{"read_text_file", object{"path": "/etc/passwd"}}, // outside
		{"read_media_file", object{"path": at("dot.png")}},
		{"read_multiple_files", object{"paths": []string{at("a.txt"), at("missing.txt")}}},
		{"create_directory", object{"path": at("new")}},
		{"write_file", object{"path": at("new/c.txt"), "content": "see\n"}},
		{"edit_file", object{"path": at("new/c.txt"), "edits": []object{{"oldText": "see", "newText": "sea"}}}},
		{"move_file", object{"source": at("new/c.txt"), "destination": at("c.txt")}},
		{"list_directory", object{"path": at("")}},
		{"list_directory_with_sizes", object{"path": at("")}},
		{"directory_tree", object{"path": at("")}},
		{"search_files", object{"path": at(""), "pattern": "**/*.txt"}},
		{"get_file_info", object{"path": at("a.txt")}},
	}
}

func memoryCalls() []toolCall {
	relation := []object{{"from": "Ann", "to": "Tea", "relationType": "drinks"}}
	return []toolCall{
		{"create_entities", object{"entities": []object{
			{"name": "Ann", "entityType": "person", "observations": []string{"is here"}},
			{"name": "Tea", "entityType": "drink", "observations": []string{}},
		}}},
		{"create_relations", object{"relations": relation}},
		{"add_observations", object{"observations": []object{{"entityName": "Ann", "contents": []string{"hums"}}}}},
		{"read_graph", nil},
		{"search_nodes", object{"query": "drink"}},
		{"open_nodes", object{"names": []string{"Ann"}}},
		{"delete_observations", object{"deletions": []object{{"entityName": "Ann", "observations": []string{"hums"}}}}},
		{"delete_relations", object{"relations": relation}},
		{"delete_entities", object{"entityNames": []string{"Tea"}}},
		{"read_graph", nil},
	}
}

func thinkingCalls() []toolCall {
	return []toolCall{
		{"sequentialthinking", object{"thought": "first", "nextThoughtNeeded": true, "thoughtNumber": 1, "totalThoughts": 2}},
		{"sequentialthinking", object{"thought": "x", "thoughtNumber": 0}},
	}
}

func databaseCalls() []toolCall {
	return []toolCall{
		{"execute_sql", object{"sql": "SELECT 1 AS one, 'é' AS text"}},
		{"execute_sql", object{"sql": "SELECT * FROM nothing_there"}},
		{"search_objects", object{"object_type": "table", "detail_level": "full"}},
	}
}

// gitCalls name the repository in each call: what git_set_working_dir sets is of
// one session, and the inspector has a new one for each call.
func gitCalls(work string) []toolCall {
	repo := filepath.Join(work, "repo")
	in := func(args object) object {
		args["path"] = repo
		return args
	}
	return []toolCall{
		{"git_clear_working_dir", object{"confirm": "Y"}}, // before there is one
		{"git_wrapup_instructions", object{"acknowledgement": "Y"}},
		{"git_set_working_dir", object{"path": repo}},
		{"git_status", in(object{})},
		{"git_checkout", in(object{"target": "side", "createBranch": true})},
		{"git_branch", in(object{"mode": "list"})},
		{"git_add", in(object{"paths": []string{"."}})},
		{"git_commit", in(object{"message": "feat: second", "allowEmpty": true})},
		{"git_log", in(object{"maxCount": 5})},
		{"git_show", in(object{"object": "HEAD"})},
		{"git_diff", in(object{"source": "main", "target": "side", "stat": true})},
		{"git_blame", in(object{"filePath": "a.txt"})},
		{"git_tag", in(object{"mode": "create", "tagName": "v0.2.0"})},
		{"git_checkout", in(object{"target": "main"})},
		{"git_cherry_pick", in(object{"commits": []string{"no-such-commit"}})},
		{"git_merge", in(object{"branch": "side"})},
		{"git_rebase", in(object{"upstream": "main"})},
		{"git_remote", in(object{"mode": "list"})},
		{"git_fetch", in(object{"remote": "origin"})},
		{"git_push", in(object{"remote": "origin", "branch": "main"})},
		{"git_pull", in(object{"remote": "origin", "branch": "main"})},
		{"git_stash", in(object{"mode": "list"})},
		{"git_reset", in(object{"mode": "soft", "target": "HEAD"})},
		{"git_reflog", in(object{"maxCount": 3})},
		{"git_clean", in(object{"dryRun": true, "force": true})},
		{"git_worktree", in(object{"mode": "list"})},
		{"git_changelog_analyze", in(object{"reviewTypes": []string{"features"}})},
		{"git_init", object{"path": filepath.Join(work, "fresh")}},
		{"git_clone", object{"url": "not-a-url", "path": filepath.Join(work, "clone")}},
	}
}
