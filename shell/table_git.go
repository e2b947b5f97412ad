package shell

// Flags that more than one git command takes.
const (
	gitDiffFlags   = " -pusaRzwWbm -U? -B? -M? -C? -D -l? -S: -G: --patch --no-patch --unified= --raw --stat? --numstat --shortstat --dirstat? --summary --name-only --name-status --color? --no-color --word-diff? --word-diff-regex= --color-words? --color-moved? --no-renames --find-renames? --find-copies? --find-copies-harder --break-rewrites? --irreversible-delete --diff-filter= --pickaxe-all --pickaxe-regex --find-object= --relative? --no-relative --text --ignore-space-at-eol --ignore-cr-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-matching-lines= --inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff --no-textconv --src-prefix= --dst-prefix= --no-prefix --minimal --patience --histogram --anchored= --diff-algorithm= --full-index --abbrev? --no-abbrev --binary --check --ws-error-highlight= --compact-summary --patch-with-stat --patch-with-raw --indent-heuristic --no-indent-heuristic --combined-all-paths --cc -c --no-diff-merges "
	gitLogFlags    = " -# -L: -i -E -F -P -g -q -r -t --oneline --graph --no-graph --all --branches? --tags? --remotes? --glob= --exclude= --decorate? --no-decorate --decorate-refs= --decorate-refs-exclude= --source --follow --full-diff --log-size --max-count= --skip= --since= --after= --until= --before= --author= --grep= --grep-reflog= --all-match --invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents= --max-parents= --first-parent --not --reflog --walk-reflogs --merge --boundary --cherry-mark --cherry-pick --cherry --left-right --left-only --right-only --simplify-by-decoration --full-history --dense --sparse --simplify-merges --ancestry-path? --date-order --author-date-order --topo-order --reverse --parents --children --date= --relative-date --abbrev-commit --no-abbrev-commit --encoding= --expand-tabs? --no-expand-tabs --notes? --no-notes --show-pulls --mailmap --no-mailmap --use-mailmap --clear-decorations "
	gitCommitFlags = " --pretty? --format= --count --objects --in-commit-order --timestamp --disk-usage? --header --no-object-names --summary --numbered --email --group= --include-untracked --only-untracked --no-walk? --do-walk "
)

// gitTable is what is known of git's commands. Nothing that fetches, writes or
// runs what configuration names is here; see GitEnvironment for the rest.
func gitTable(name string) row {
	switch name {
	case "git status":
		return flags("-sbz -u? --short --branch --show-stash --porcelain? --long --untracked-files? --ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?")
	case "git diff", "git diff-tree", "git diff-index", "git diff-files":
		return flags(gitDiffFlags + "--cached --staged --merge-base --no-index -1 -2 -3 -0 --base --ours --theirs --stdin --root --no-commit-id --pretty? -r -t -v -s -m -c --cc --always")
	case "git log", "git show", "git whatchanged", "git rev-list", "git reflog", "git stash show", "git stash list":
		return row{listed: true, flags: gitDiffFlags + gitLogFlags + gitCommitFlags + "-n: --committer=", judge: judgeGitLog(name)}
	case "git shortlog":
		return row{listed: true, flags: gitDiffFlags + gitLogFlags + gitCommitFlags + "-snec --committer", judge: judgeGitLog(name)}
	case "git blame", "git annotate":
		return flags("-bcefklnpstw -C? -M? -L: -S: --root --show-stats --reverse --first-parent --porcelain --line-porcelain --incremental --encoding= --contents= --date= --abbrev= --score-debug --show-name --show-number --show-email --ignore-rev= --ignore-revs-file= --color-lines --color-by-age --since=")
	case "git grep":
		return flags("-aIivwEGFPnlLzochpqWr -A: -B: -C: -e: -f: -# --cached --untracked --no-index --exclude-standard --no-exclude-standard --text --ignore-case --max-depth= --recursive --no-recursive --word-regexp --invert-match --full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --context= --after-context= --before-context= --function-context --threads= --and --or --not --all-match --quiet --max-count= --no-textconv")
	case "git ls-files":
		return flags("-cdmoikstuvfz -x: -X: --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate --exclude= --exclude-from= --exclude-per-directory= --exclude-standard --error-unmatch --with-tree= --full-name --abbrev? --debug --sparse --format=")
	case "git ls-tree":
		return flags("-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format=")
	case "git cat-file":
		return flags("-tspe --batch? --batch-check? --batch-all-objects --buffer --unordered --follow-symlinks --allow-unknown-type --use-mailmap --no-mailmap")
	case "git rev-parse":
		return flags("-q --quiet --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir --absolute-git-dir --git-common-dir --git-path= --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-object-format? --all --branches? --tags? --remotes? --revs-only --no-revs --flags --no-flags --not --sq --path-format= --local-env-vars --shared-index-path --show-ref-format --since= --until= --default= --disambiguate=")
	case "git describe":
		return flags("--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= --exclude= --always --first-parent")
	case "git show-ref":
		return flags("-dhqs --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet --exclude-existing? --exists")
	case "git for-each-ref":
		return row{listed: true, flags: "--count= --sort= --format= --shell --perl --python --tcl --color? --points-at= --merged? --no-merged? --contains? --no-contains? --ignore-case --omit-empty --exclude= --stdin", judge: judgeGitFormat}
	case "git branch":
		return row{listed: true, flags: "-arvlqi --all --remotes --verbose --list --show-current --sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --color? --no-color --column? --no-column --abbrev? --no-abbrev --ignore-case --omit-empty", judge: judgeGitBranch}
	case "git tag":
		return row{listed: true, flags: "-li -n? --list --sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --color? --column? --no-column --ignore-case --omit-empty", judge: judgeGitTag}
	case "git remote":
		return flags("-v --verbose :0")
	case "git config":
		return row{listed: true, judge: judgeGitConfig}
	case "git stash", "git worktree", "git notes", "git rerere":
		return row{listed: true, subs: true}
	case "git worktree list":
		return flags("-vz --porcelain --verbose :0")
	case "git notes list", "git notes show":
		return flags(":1")
	case "git rerere status", "git rerere remaining":
		return flags(":0")
	case "git merge-base":
		return flags("-a --all --octopus --independent --is-ancestor --fork-point")
	case "git name-rev", "git cherry", "git count-objects", "git check-ignore", "git check-attr", "git check-mailmap", "git check-ref-format", "git verify-pack", "git version", "git var", "git show-branch", "git diff-pairs":
		return flags("-avHqzns --all --tags --always --name-only --refs= --exclude= --verbose --human-readable --quiet --no-index --non-matching --cached --stat-only --build-options --branch --allow-onelevel --normalize --remotes --current --topo-order --sha1-name --independent --merge-base --list --no-name")
	case "git fsck":
		return flags("--unreachable --dangling --no-dangling --root --tags --cache --no-reflogs --full --no-full --strict --verbose --progress --no-progress --connectivity-only --name-objects")
	case "git symbolic-ref":
		return flags("-q --quiet --short --recurse --no-recurse :1")
	}
	return row{}
}
