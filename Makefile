GO ?= go
LISTEN ?= 127.0.0.1:8080
DATA ?= ./fairdice-data
TYPES := npx --yes openapi-typescript@7.13.0 openapi.yaml --default-non-nullable=false -o client/ts/src/types.gen.ts
OAPI := $(GO) tool -modfile=../tools/go.mod oapi-codegen -config oapi-codegen.yaml /dev/stdin

# Webhooks are sent, not served: no code is made from them.
SERVED := sed '/^webhooks:/,/^components:/{/^components:/!d;}' openapi.yaml

.PHONY: run build test race check generate bench fuzz crash release

## run: start the service on $(LISTEN) with its data in $(DATA)
run: build
	./bin/fairdice serve --listen $(LISTEN) --data $(DATA)

# The page's verifier, which the programs and the tests of the page embed.
WASM := web/wasm/built/verify.wasm
define module
GOOS=js GOARCH=wasm CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off GOEXPERIMENT= GOFIPS140=off $(GO) build -trimpath -buildvcs=false -ldflags="-s -w" -o $(WASM) ./cmd/verify
$(GO) run ./internal/pack $(WASM)
endef

## build: the page's verifier, then both programs into ./bin
build:
	$(module)
	$(GO) build -trimpath -o bin/ ./cmd/...

## test: all tests
test:
	$(module)
	$(GO) test ./...

## race: what happens at the same time, under the race detector, in smaller sizes
race:
	$(GO) test -race -short -count 1 -timeout 15m ./store/... ./house/... ./translog/... ./api \
		-run 'Store|Group|Writer|Deadlock|Session|OneMatch|Instance|Linearizable|LostUpdate|Thousand|Concurrent|Server|Witness'

## check: formatting, vet, generated files, staticcheck, that a build is the same everywhere
check: generate
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	git diff --exit-code -- '*.gen.go' '*.gen.ts' docs/games.md
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	$(GO) run ./internal/release -check

## generate: what is made from openapi.yaml, and docs/games.md from the rules; TypeScript only where npx is
generate:
	for d in api client; do $(SERVED) | (cd $$d && $(OAPI)) || exit 1; done
	sed -i -e '1,2d' -e 's|DO NOT EDIT\.$$|&\n|' api/openapi.gen.go client/types.gen.go
	if command -v npx >/dev/null; then $(TYPES) && \
		sed -i "1i // Of the openapi.yaml with the SHA-256 $$(sha256sum openapi.yaml | cut -d' ' -f1)." client/ts/src/types.gen.ts; fi
	$(GO) generate ./...

## bench: every measured path for BENCHTIME each; docs/benchmarks.md has figures
BENCHTIME ?= 1s
BENCH := $(GO) test -run '^$$' -bench . -benchtime $(BENCHTIME) -count 1
bench:
	$(module)
	$(BENCH) ./rules
	$(BENCH) ./replay/mat
	$(BENCH) ./commitment
	$(BENCH) ./audit
	$(BENCH) ./store/sqlite
	$(BENCH) ./store/postgres
	$(BENCH) ./house
	$(BENCH) ./cmd/fairdice
	$(BENCH) ./web/browsertest

## fuzz: rare faults: every fuzz test for FUZZTIME, both generators on some 200,000 positions, and CALIBRATE archives and games of honest dice
FUZZTIME ?= 20s
CALIBRATE ?= 2000
fuzz:
	@$(GO) list ./... | while read -r pkg; do \
		$(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' | while read -r f; do \
			echo "$$pkg $$f"; $(GO) test $$pkg -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s || exit 1; \
		done || exit 1; done
	$(GO) test ./rules -run Differential -differential 15000
	FAIRDICE_CALIBRATE=$(CALIBRATE) $(GO) test ./audit/stats -run 'TestCalibration|TestPower' -count 1 -v -timeout 60m
	FAIRDICE_AUDIT_GAMES=$(CALIBRATE) $(GO) test ./audit/archive -count 1 -v -timeout 60m

## crash: kill the service KILLS times on each kind of database, and as often while it begins; have every change of its files fail once
KILLS ?= 200
crash:
	FAIRDICE_KILLS=$(KILLS) $(GO) test ./cmd/fairdice -run 'TestKilled|Faults$$' -count 1 -v -timeout 180m

## release: both programs for every system, in archives that anybody can rebuild, the page's verifier, and their sums, into ./dist
release:
	$(module)
	$(GO) run ./internal/release -out dist
