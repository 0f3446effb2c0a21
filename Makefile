# Everything goes into bin/ and .cache/, which can be deleted at any time.

VERSION ?= $(shell sed -n 's/^## \([0-9][0-9.a-z-]*\).*/\1/p' CHANGELOG.md | head -n 1)
LDFLAGS := -s -w -X main.version=$(VERSION)
GOBUILD := go build -trimpath -tags grpcnotrace -ldflags '$(LDFLAGS)'
PLUGINS := $(notdir $(patsubst %/main.go,%,$(wildcard plugins/*/main.go)))

.PHONY: build
build: ## build bin/junctor and bin/plugins/junctor-plugin-NAME
	$(GOBUILD) -o bin/junctor ./cmd/host
	@for p in $(PLUGINS); do $(GOBUILD) -o bin/plugins/junctor-plugin-$$p ./plugins/$$p || exit 1; done

.PHONY: demo
demo: build ## build everything and use the demo server through it
	$(GOBUILD) -o bin/junctor-demo ./testdata/demo
	@./testdata/demo/demo.sh
