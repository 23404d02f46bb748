# agones-shim: `make demo` to see it work, `make test` to trust it, `make help` for the rest.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
ARCH ?= x86_64

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | while IFS='	' read -r name text; do \
		printf '  make %-12s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## installs what a build needs and is missing (apt, as root or with sudo)
	@.ci/setup.sh

.PHONY: setup-ci
setup-ci: ## the same, with the servers and tools that CI's tests run beside the shim
	@.ci/setup.sh ci

.PHONY: demo
demo: setup ## local SDK server, a small game and the shim, live on this terminal; Ctrl-C drains
	@[ -x target/debug/agones-shim ] || echo "building: the first time takes up to ten minutes, most of it gRPC's C core"
	@cargo build --locked --bin agones-shim --example demo --example demo_game
	@target/debug/examples/demo

.PHONY: test
test: ## setup, with the small programs that tests run beside the shim; then check
	@.ci/setup.sh test
	@$(MAKE) check

.PHONY: check
check: ## formatting, clippy, docs, tests; warnings are errors
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --no-default-features -- -D warnings
	cargo clippy --locked --quiet -p agones-shim-proto -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --document-private-items
	cargo test --locked
	cargo test --locked --quiet -p agones-shim-proto

.PHONY: test-client
test-client: ## the official Agones SDK for Rust, its whole surface, against agones-shim local-sdk
	@.ci/setup.sh ci
	cargo build --quiet --locked --bin agones-shim
	cargo build --quiet --locked --manifest-path tests/agones-client/Cargo.toml
	SHIM_UNDER_TEST=$(CURDIR)/target/debug/agones-shim tests/agones-client/target/debug/agones-client

.PHONY: bench
bench: ## what it costs and how fast it is, beside tini, dumb-init and a shell loop; BENCH_IDLE_SECS=240 for a long look
	@shim=$${SHIM_UNDER_TEST:-$(CURDIR)/target/static/$(ARCH)-unknown-linux-musl/agones-shim}; \
	if [ ! -x "$$shim" ]; then \
		echo "no $$shim (make static builds it): measuring a debug build"; \
		cargo build --quiet --locked --bin agones-shim; shim=$(CURDIR)/target/debug/agones-shim; \
	fi; \
	SHIM_UNDER_TEST=$$shim cargo test --quiet --locked --bench life

.PHONY: deny
deny: ## licences, versions and sources of the crates, by cargo-deny (cargo install --locked cargo-deny)
	cargo deny --locked check licenses bans sources

.PHONY: soak
soak: ## random faults at hundredfold speed: nothing leaks, nothing is lost; SOAK_SECS=3600 for long, SOAK_SEED to repeat
	@cargo build --quiet --locked --bin agones-shim
	@cargo test --quiet --locked --bench soak

.PHONY: static
static: ## the static musl binary, its checksums, SBOM and notices, in target/static; ARCH=aarch64 for Arm
	@.ci/setup.sh static
	@.ci/static.sh $(ARCH)

.PHONY: test-static
test-static: static ## the tests of sidecar, wrapper and images against the static binary
	SHIM_UNDER_TEST=$(CURDIR)/target/static/x86_64-unknown-linux-musl/agones-shim cargo test --locked --test it

.PHONY: image
image: static ## agones-shim:latest, a FROM scratch image of the static binary
	@.ci/image.sh

.PHONY: release
release: ## archives, checksums and a multi-architecture image of the static binaries, in target/release-files
	@.ci/release.sh

.PHONY: ship-check
ship-check: ## what CI has no time for: both architectures, rebuilt whole and compared; Arm under qemu
	@.ci/ship-check.sh
