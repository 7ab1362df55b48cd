# The one menu of developer commands. Each installs what it needs.

CARGO ?= cargo
# Instrumented builds need unstable flags of the compiler, which a stable one has as well.
FUZZ_SECONDS ?= 60
FUZZ = RUSTC_BOOTSTRAP=1 $(CARGO) fuzz

.PHONY: help build demo test soak lint bench peers fuzz clean

help:
	@echo "make demo   a load test against a server that stalls, in ten seconds"
	@echo "make test   everything that must hold"
	@echo "make soak   the same with twenty thousand cases for each property"
	@echo "make lint   formatting, clippy, documentation"
	@echo "make bench  speed and memory against wrk, wrk2, ab and oha"
	@echo "make peers  the load testers that studies run beside Loadline"
	@echo "make fuzz   the parsers on random input, FUZZ_SECONDS each"

build: compiler
	$(CARGO) build --release --locked -p loadline

demo: build
	target/release/loadline demo

test: compiler
	@scripts/need nginx=nginx-light openssl=openssl wrk=wrk ab=apache2-utils h2load=nghttp2-client
	$(CARGO) test --workspace --locked

soak: compiler
	@scripts/need nginx=nginx-light openssl=openssl wrk=wrk ab=apache2-utils h2load=nghttp2-client
	PROPTEST_CASES=20000 $(CARGO) test --workspace --locked --release
	$(CARGO) test -p loadline --test integration --locked --release -- --ignored --nocapture

lint: compiler
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet

bench: build
	@scripts/need nginx=nginx-light wrk=wrk ab=apache2-utils python3=python3 openssl=openssl
	python3 benches/speed.py

peers:
	@CARGO="$(CARGO)" scripts/peers

fuzz: compiler
	@command -v cargo-fuzz >/dev/null || $(CARGO) install --locked cargo-fuzz
	for target in $$($(FUZZ) list); do \
		$(FUZZ) run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

clean:
	$(CARGO) clean

# Linking, and the assembly of the TLS library, need a C compiler.
.PHONY: compiler
compiler:
	@scripts/need cc=gcc
