package main

import "path/filepath"

// workCall is a call of the agent, by the name that the tool has behind Ferrule.
type workCall struct {
	toolCall
	writes bool
}

func reading(name string, args object) workCall { return workCall{toolCall{name, args}, false} }
func writing(name string, args object) workCall { return workCall{toolCall{name, args}, true} }

// answers are what the newcomer says of each server, once.
func (n *newcomer) answers() map[string]trustAnswer {
	return map[string]trustAnswer{
		"everything": {"these", []string{"echo", "get-sum"}},
		"files": {"these", []string{
			"read_text_file", "list_directory", "search_files", "get_file_info", "directory_tree", "list_allowed_directories",
			"write_file", "edit_file", "create_directory",
		}},
		"memory":   {"these", []string{"read_graph", "search_nodes", "open_nodes", "create_entities", "create_relations", "add_observations"}},
		"thinking": {"these", []string{"sequentialthinking"}},
		"git":      {"these", []string{"git_status", "git_log", "git_show", "git_diff", "git_blame", "git_add", "git_commit"}},
		"dbhub":    {"reads", nil},
	}
}

// unanswered is a call of a tool that no answer allows: it must not run before a
// person has been asked about it.
func (n *newcomer) unanswered() workCall {
	from, to := n.moved()
	return writing("files__move_file", object{"source": from, "destination": to})
}

// moved are the places of the file that unanswered moves.
func (n *newcomer) moved() (from, to string) {
	return filepath.Join(n.work, "files", "d.txt"), filepath.Join(n.work, "files", "new", "d.txt")
}

// before is what the agent does before the update.
func (n *newcomer) before() []workCall {
	file := func(name string) string { return filepath.Join(n.work, "files", name) }
	repo := filepath.Join(n.work, "repo")
	return []workCall{
		reading("files__list_directory", object{"path": file("")}),
		reading("files__read_text_file", object{"path": file("a.txt")}),
		reading("files__search_files", object{"path": file(""), "pattern": "**/*.txt"}),
		reading("files__get_file_info", object{"path": file("a.txt")}),
		writing("files__create_directory", object{"path": file("new")}),
		writing("files__write_file", object{"path": file("new/c.txt"), "content": "see\n"}),
		writing("files__edit_file", object{"path": file("new/c.txt"), "edits": []object{{"oldText": "see", "newText": "sea"}}}),
		writing("memory__create_entities", object{"entities": []object{{"name": "Ann", "entityType": "person", "observations": []string{}}}}),
		reading("memory__read_graph", object{}),
		reading("memory__search_nodes", object{"query": "Ann"}),
		reading("git__git_status", object{"path": repo}),
		reading("git__git_log", object{"path": repo, "maxCount": 5}),
		reading("git__git_show", object{"path": repo, "object": "HEAD"}),
		reading("dbhub__search_objects", object{"object_type": "table", "detail_level": "names"}),
		reading("everything__echo", object{"message": "hello"}),
		reading("everything__get-sum", object{"a": 1, "b": 2}),
		reading("thinking__sequentialthinking", object{"thought": "first", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}),
	}
}

// after is what it does behind the update, with what has changed as well.
func (n *newcomer) after() []workCall {
	file := func(name string) string { return filepath.Join(n.work, "files", name) }
	repo := filepath.Join(n.work, "repo")
	return []workCall{
		reading("files__read_text_file", object{"path": file("new/c.txt")}),
		reading("files__list_directory", object{"path": file("new")}),
		reading("files__search_files", object{"path": file(""), "pattern": "**/c.txt"}),
		reading("files__directory_tree", object{"path": file("")}),
		writing("files__write_file", object{"path": file("d.txt"), "content": "dee\n"}),
		writing("files__edit_file", object{"path": file("d.txt"), "edits": []object{{"oldText": "dee", "newText": "day"}}}),
		writing("memory__add_observations", object{"observations": []object{{"entityName": "Ann", "contents": []string{"hums"}}}}),
		reading("memory__open_nodes", object{"names": []string{"Ann"}}),
		n.unanswered(),
		writing("git__git_add", object{"path": repo, "paths": []string{"."}}),
		writing("git__git_commit", object{"path": repo, "message": "feat: second", "allowEmpty": true}),
		reading("git__git_diff", object{"path": repo}),
		reading("git__git_blame", object{"path": repo, "filePath": "a.txt"}),
	}
}
