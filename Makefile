# What there is to do here. CONTRIBUTING.md says when.

LINT_VERSION := v2.14.0
LINT         := $(CURDIR)/.tools/bin/golangci-lint-$(LINT_VERSION)
FUZZTIME     ?= 6s
CI_DATA      := $(or $(DATA),../shared/data)
CI_TARGETS   := linux/amd64
CHECK        := go run ./internal/check
# These are modules of their own: what they are about is no dependency of ours.
MODULES      := . $(patsubst %/go.mod,%,$(wildcard bench/go.mod bench/adopt/go.mod e2e/browser/go.mod))

# What tests use beyond Go, git and make. Where it cannot be had, tests that need it
# fail in CI and are skipped elsewhere; each says which it is.
NEEDS        := bwrap:bubblewrap npm:npm chromium:chromium zsh:zsh fish:fish man:man-db groff:groff systemd-analyze:systemd

.PHONY: help needs test docs-test lint fmt laws fuzz fuzz-report bench bench-check eval rules e2e soak browser screenshots build release release-check tidy ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

needs: ## install what tests need: bubblewrap, npm, chromium, shells, man, systemd-analyze
	@for n in $(NEEDS); do \
		command -v $${n%%:*} > /dev/null && continue; \
		echo "installing $${n##*:}"; \
		{ apt-get update -qq && apt-get install -y -qq $${n##*:} > /dev/null; } || { echo "needs: $${n%%:*} is not there, and Debian's package $${n##*:} cannot be installed" >&2; exit 1; }; \
	done

# Some tests list or build packages: what that compiles is not their time.
test: ## all Go tests, with the race detector; each rule that is built has one
	@go build ./... && go list -export -deps ./... > /dev/null
	@GOGC=400 $(CHECK) test -rules # they make much garbage, and run for a short time
	@for m in $(filter-out .,$(MODULES)); do GOGC=400 $(CHECK) test -C $$m || exit 1; done

docs-test: ## every block, command, link and figure of README.md and docs; part of test
	@go test ./internal/pages

lint: $(LINT) ## format, go vet and golangci-lint
	@$(LINT) fmt --diff
	@for m in $(MODULES); do (cd $$m && go vet ./... && $(LINT) run ./...) || exit 1; done

fmt: $(LINT) ## rewrite files as lint wants them
	@$(LINT) fmt

# Built once and kept: running it with go run takes minutes each time.
$(LINT):
	GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv $(@D)/golangci-lint $@

laws: ## properties of the runtime for 10,000 random cases each, and what is allocated
	@go test -run 'Laws|SameAsSerial|Allocated|Costs' -cases 10000 .
	@go test ./agent -count=1 -run AgentLaws -cases 1000

fuzz: ## each fuzz target for FUZZTIME (6s); exit 1 on a find
	@$(CHECK) fuzz -time $(FUZZTIME)

# In ci: what is found by luck is told, and stops no change that has nothing to do with it.
fuzz-report: ## the same, but a find is only printed
	@$(CHECK) fuzz -time $(FUZZTIME) -report

bench: ## measure against the floor; writes the table in bench/README.md
	@cd bench && go run .

bench-check: ## exit 1 when a ratio is missed
	@cd bench && go run . -check

# Prints the last line, the summary; all lines if something does not hold.
measure = @out=$$(go run ./eval $(1)) && [ -n "$$out" ] || { printf '%s\n' "$$out"; exit 1; }; \
	printf '%s\n' "$$out" | tail -n 1

eval: ## measure on data from outside: make eval DATA=dir
	@if [ -z "$(DATA)" ]; then echo "usage: make eval DATA=dir" >&2; exit 2; fi
	@if [ ! -d "$(DATA)" ]; then echo "eval: $(DATA): no such directory" >&2; exit 1; fi
	$(call measure,schema-suite "$(DATA)/json-schema-suite.jsonl" "$(DATA)/json-schema-suite-remotes.jsonl")
	$(call measure,json-suite "$(DATA)/json-parsing-suite.jsonl")
	$(call measure,schemas "$(DATA)/mcp-tools-livemcp.jsonl")
	$(call measure,bfcl "$(DATA)/tools-bfcl.jsonl" "$(DATA)/calls-bfcl.jsonl")
	$(call measure,retrieval "$(DATA)/tools-bfcl.jsonl" "$(DATA)/retrieval-bfcl.jsonl")
	$(call measure,retrieval "$(DATA)/tools-seal.jsonl" "$(DATA)/retrieval-seal.jsonl")
	$(call measure,retrieval "$(DATA)/tools-metatool.jsonl" "$(DATA)/retrieval-metatool.jsonl")
	$(call measure,retrieval "$(DATA)/mcp-tools-livemcp.jsonl" "$(DATA)/retrieval-livemcp.jsonl")
	$(call measure,retrieval "$(DATA)/tools-bfcl.jsonl" "$(DATA)/retrieval-bfcl.jsonl" "$(DATA)/tools-seal.jsonl" "$(DATA)/retrieval-seal.jsonl" \
		"$(DATA)/tools-metatool.jsonl" "$(DATA)/retrieval-metatool.jsonl" "$(DATA)/mcp-tools-livemcp.jsonl" "$(DATA)/retrieval-livemcp.jsonl")
	$(call measure,shell "$(DATA)/shell-commands.jsonl")
	$(call measure,pii "$(DATA)/pii-presidio.jsonl")
	$(call measure,keys)
	$(call measure,flow eval/testdata/flow/labels.jsonl eval/testdata/flow/sequences.jsonl)
	$(call measure,injections "$(DATA)/injections.jsonl.gz")
	$(call measure,wire "$(DATA)/wire-vercel.jsonl")
	$(call measure,wire "$(DATA)/wire-fantasy.jsonl")

rules: ## each rule of docs/spec.md with its tests
	@$(CHECK) rules

# The last line installs what it needs under .tools, once. It prints JSON lines and
# how long each part took; go run ./e2e PART runs one, and -direct leaves the gateway out.
e2e: ## what needs real processes for long, npm or servers: kills, the gateway with clients, servers and suites
	@go test ./store -count=1 -run 'TestKilledWhileAsking|TestStoreKilled' -rounds 200
	@go test ./store -count=1 -run 'TestLogChanged' -changes 1000
	@go test ./store -count=1 -run 'TestJournalModel' -histories 40
	@go test ./builtin -count=1 -run 'TestFilesRace'
	@go test ./internal/crash -count=1 -v -run 'TestKilled$$' -rounds 30 -calls 200
	@go run ./e2e -data "$(CI_DATA)"
	@$(BROWSER)

# At 16 calls a second it takes about a quarter of a core; RATE says another number.
MINUTES      ?= 30
RATE         ?= 16

soak: ## one gateway for MINUTES (30) with all that can happen to it: what it holds must stay flat
	@go run ./e2e -minutes $(MINUTES) -rate $(RATE) soak

# The console in a real browser. It needs chromium, and axe-core from npm.
BROWSER = go run ./e2e install && go build -o .tools/ferrule ./cmd/ferrule && \
	go -C e2e/browser run . -ferrule ../../.tools/ferrule -axe ../../.tools/npm/axe/node_modules/axe-core/axe.min.js

browser: ## the console in a real browser, alone
	@$(BROWSER)

screenshots: ## pictures of every page of the console, into docs/img; it looks whether all is there
	@$(BROWSER) -shots ../../docs/img

# As a release is built, so that it finds what was compiled here.
build: ## build for Linux, macOS and Windows
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "$$os/$$arch"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath ./... || exit 1; \
	done; done

RELEASE = go run ./internal/release $(if $(VERSION),-version $(VERSION)) $(if $(TARGETS),-targets $(TARGETS))

release: ## archives, sums and lists of parts for all targets, into dist; VERSION=v1.2.3, TARGETS=linux/amd64,…
	@$(RELEASE)

release-check: ## build a release twice, in two places with nothing in common, and compare; TARGETS=…
	@$(RELEASE) -check

tidy: ## go.mod and go.sum say what is used
	@for m in $(MODULES); do (cd $$m && go mod tidy -diff) || exit 1; done

ci: ## everything but bench, with the time of each part; DATA=dir, else ../shared/data
	@if [ ! -d "$(CI_DATA)" ]; then echo "ci: $(CI_DATA): no such directory; say DATA=dir" >&2; exit 1; fi
	@for part in needs tidy build "release-check TARGETS=$(CI_TARGETS)" test laws lint eval e2e bench-check fuzz-report; do \
		echo "== $$part"; start=$$(date +%s); \
		$(MAKE) --no-print-directory $$part DATA="$(CI_DATA)" || { echo "== $$part failed"; exit 1; }; \
		echo "== $$part: $$(($$(date +%s) - start)) s"; \
	done
