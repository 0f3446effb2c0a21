# Everything goes into bin/ and .cache/, which can be deleted at any time.

VERSION ?= $(shell sed -n 's/^\#\# \([0-9][0-9.a-z-]*\).*/\1/p' CHANGELOG.md | head -n 1)
LDFLAGS := -s -w -X main.version=$(VERSION)
GOBUILD := go build -trimpath -tags grpcnotrace -ldflags '$(LDFLAGS)'
PLUGINS := $(notdir $(patsubst %/main.go,%,$(wildcard plugins/*/main.go)))
# Go's patterns leave testdata out; third parties' modules are their own.
TESTPROGRAMS := $(addprefix ./,$(filter-out testdata/thirdparty/% testdata/oldsdk/%,$(sort $(dir $(wildcard testdata/*/*.go testdata/*/*/*.go)))))
PREFIX ?= /usr/local
FUZZTIME ?= 10s
# CI runs a failed test once more: testdata/rerun.sh.
GOTEST ?= go test
# So many packages are tested at a time: most tests wait for others. The scripts
# of cmd/host take minutes on a busy machine.
TESTS := -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) -timeout 25m
# The SDK and its bridge to the MCP SDK are modules of their own; see go.work. What tests use is tested.
# Tests start in the order of the packages: the slowest first, which mostly wait.
PACKAGES := ./host/interoptest ./cmd/host ./plugins/cli ./host/plugin ./... ./sdk/... ./testdata/bubble ./testdata/eventually ./testdata/programs
CROSS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

.PHONY: build
build: ## build bin/junctor and bin/plugins/junctor-plugin-NAME
	@mkdir -p bin/plugins
	$(GOBUILD) -o bin/junctor ./cmd/host
	@set -e; for p in $(PLUGINS); do echo $(GOBUILD) -o bin/plugins/junctor-plugin-$$p ./plugins/$$p; \
		$(GOBUILD) -o bin/plugins/junctor-plugin-$$p ./plugins/$$p; done
	CGO_ENABLED=0 $(GOBUILD) -o bin/plugins/junctor-sandbox ./plugins/internal/launcher

.PHONY: demo
demo: build ## build everything and show it at work on the demo server
	$(GOBUILD) -o bin/junctor-demo ./testdata/demo
	@./testdata/demo/demo.sh

.PHONY: test
test: ## all tests; those that need node or python3 run where these are, the end says what was left out
	@rm -f .cache/interop/skipped
	$(GOTEST) $(TESTS) $(PACKAGES)
	cd testdata/thirdparty && go test ./...
	@test ! -f .cache/interop/skipped || cat .cache/interop/skipped # go test itself is silent about it

.PHONY: conformance
conformance: ## the official conformance suite, with Junctor as the client and as the server, for both eras
	go test ./host/interoptest -run '^TestConformance' -count=1 -v

.PHONY: race
race: ## the tests under the race detector, but for those that mostly start programs or do one thing at a time
	$(GOTEST) $(TESTS) -race -short $$(go list $(PACKAGES) | grep -v '/cmd/host$$\|/host/\(bundle\|clientconfig\|clientimport\|config\|hcltext\|interoptest\|plan\)$$\|/plugins/\(cli\|keyring\|sse$$\|stdio$$\)\|/\(launch\|ndjson\|plugintest\)$$')

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	@./testdata/fuzz.sh $(FUZZTIME) $(FUZZHOW)

.PHONY: bench
bench: build ## everything compared with a direct connection and PEER in one run, written to docs/performance.md
	go run ./testdata/bench -write docs/performance.md $(if $(PEER),-peer '$(PEER)')

.PHONY: benchdiff
benchdiff: build ## the CPU of calls compared with the commit before, or with BASE
	@./testdata/benchdiff.sh $(BASE)

.PHONY: soak
soak: build ## the full numbers: serial, without -race, best of three; PARTS="bench fuzz" runs some
	@./testdata/soak.sh $(PARTS)

# The tools of lint are built when their versions change.
STATICCHECK := .cache/bin/staticcheck-v0.8.2
DEADCODE := .cache/bin/deadcode-v0.52.0

$(STATICCHECK):
	GOBIN='$(CURDIR)/.cache/bin' GOFLAGS= go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	@mv .cache/bin/staticcheck $@

$(DEADCODE):
	GOBIN='$(CURDIR)/.cache/bin' GOFLAGS= go install golang.org/x/tools/cmd/deadcode@v0.52.0
	@mv .cache/bin/deadcode $@

.PHONY: lint
lint: $(STATICCHECK) $(DEADCODE) ## formatting, vet, staticcheck, unused functions, cross-builds
	@test -z "$$(gofmt -l cmd host plugins sdk testdata)" || { gofmt -l cmd host plugins sdk testdata; echo "run gofmt"; exit 1; }
	go vet $(PACKAGES) $(TESTPROGRAMS)
	$(STATICCHECK) $(PACKAGES) $(TESTPROGRAMS)
	$(DEADCODE) ./cmd/host ./plugins/internal/launcher $(addprefix ./plugins/,$(PLUGINS)) >.cache/deadcode
	@! grep -v '^sdk/[a-z_]*\.go\|^sdk/goplugin/' .cache/deadcode # what only plugins of others and the test kit use
	@set -e; for to in $(CROSS); do \
		test $$to = "$$(go env GOHOSTOS)/$$(go env GOHOSTARCH)" && continue; echo "build $$to"; \
		GOOS=$${to%/*} GOARCH=$${to#*/} go build -gcflags='all=-N -l' ./cmd/... ./plugins/...; done # without optimising it takes half the time

.PHONY: audit
audit: ## known vulnerabilities in what is linked; needs the vulnerability database (GOVULNDB)
	@GOVULNDB='$(GOVULNDB)' ./testdata/audit.sh

.PHONY: docs
docs: ## write the reference pages from the code
	go test ./cmd/host -run 'TestDocs$$' -update
	go test ./host/audit -run TestFieldsPage -update
	go test ./host -run 'Deviations|Architecture' -update
	go test ./host/clientimport -run Page -update
	go test ./host/config -run Page -update
	go test ./host/telemetry -run Page -update
	go test ./host/httpserver -run Walk -update

.PHONY: install
install: build ## install into PREFIX
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/junctor/plugins
	install bin/junctor $(DESTDIR)$(PREFIX)/bin/
	@set -e; for p in bin/plugins/*; do to=$(DESTDIR)$(PREFIX)/libexec/junctor/plugins/$$(basename $$p); \
		install $$p $$to.new; mv $$to.new $$to; done # a running junctor may start one at any time
