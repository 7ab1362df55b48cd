# The one menu of developer commands. Each installs what it needs.

CARGO ?= cargo
# Instrumented builds need unstable flags of the compiler, which a stable one has as well.
FUZZ_SECONDS ?= 60
FUZZ = RUSTC_BOOTSTRAP=1 $(CARGO) fuzz

# The HTML report has a front end, which is built with Node.js; `make HTML=` leaves both out.
HTML ?= yes
# k6's scripts bring a JavaScript engine, which is compiled from C; `make SCRIPTS=` leaves it out.
SCRIPTS ?= yes
# Locustfiles need Python 3.10 or newer; `make PYTHON=` leaves their extension out.
PYTHON ?= yes
TARGET = $(abspath $(or $(CARGO_TARGET_DIR),target))
EXTENSION = $(TARGET)/release/libloadline_script_py.so
FEATURES = $(if $(HTML),--features loadline/html) $(if $(SCRIPTS),--features loadline/k6)
TESTED = $(FEATURES) $(subst loadline/,loadline-integration/,$(FEATURES))
# The integration tests run the program that is shipped, not one of another profile.
PROGRAM = LOADLINE_PROGRAM=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/loadline
PAGE = $(if $(HTML),web/dist/index.html)

.PHONY: help build python wheel install demo test compiled-tests soak lint bench paired peers
.PHONY: web fuzz clean package package-arm64 static packages test-package package-tools
.PHONY: extension order unit-tests
.PHONY: python-tests beside-python exporters-cost viewers-cost agents-cost start-skew

help:
	@echo "make build  the command, in target/release/loadline"
	@echo "make python what \`loadline locust\` needs, in target/python; make build does it as well"
	@echo "make wheel  the package for pip, in target/wheels"
	@echo "make package  what a release has, in target/package: see docs/guide/install.md"
	@echo "make package-arm64  adds the tarball, .deb and npm package for arm64"
	@echo "make order  which functions packages have side by side, in packaging/order.txt"
	@echo "make test-package  installs and runs all of it, in roots that have nothing else"
	@echo "make install  into PREFIX/bin, HTML reports included (~/.cargo/bin without PREFIX)"
	@echo "make demo   a load test against a server that stalls, in ten seconds"
	@echo "make test   everything that must hold"
	@echo "make soak   the same with twenty thousand cases for each property"
	@echo "make lint   formatting, clippy, documentation"
	@echo "make bench  speed and memory against wrk, wrk2, ab, oha, h2load and k6"
	@echo "make paired speed against another build of Loadline, OLD=FILE"
	@echo "make exporters-cost  CPU and lateness with all exporters on, and with none"
	@echo "make viewers-cost  the same with the live page and one or ten viewers"
	@echo "make agents-cost  the CPU of an agent and its part, and of the plain command"
	@echo "make start-skew  how closely four agents begin together"
	@echo "make peers  the load testers that studies run beside Loadline"
	@echo "make web    the page of HTML reports; the others make it themselves"
	@echo "make fuzz   the parsers on random input, FUZZ_SECONDS each"
	@echo "make clean  throws away what was built"

# Both in one call: what they are made of is compiled once, and both are linked at once.
build: compiler $(PAGE)
	$(CARGO) build --release --locked -p loadline $(if $(PYTHON),-p loadline-script-py) $(FEATURES)
	$(if $(PYTHON),@scripts/python $(TARGET)/python $(EXTENSION))

# Without Python it says so in a sentence, and the rest works.
python: compiler
	$(CARGO) build --release --locked -p loadline-script-py
	@scripts/python $(TARGET)/python $(EXTENSION)

# Its name promises the version of the C library that the command and the extension need.
wheel: build
	@scripts/need readelf=binutils
	@scripts/python $(TARGET)/python
	$(TARGET)/python/bin/python3 -m pip install --quiet 'pyproject-metadata<1' 'wheel<1'
	rm -rf $(TARGET)/wheels
	$(TARGET)/python/bin/python3 scripts/wheel $(TARGET)/wheels $(TARGET)/release/loadline \
		$(EXTENSION)
	scripts/wheel-check $(TARGET)/wheels/*.whl

# What a release has. The command is linked statically: one file for each Linux of its machine. Fat
# LTO takes minutes; PACKAGE_PROFILE=demo is for a look at the packages.
PACKAGE = $(TARGET)/package
PACKAGE_PROFILE ?= dist
PACKAGE_TARGET ?= x86_64-unknown-linux-gnu
# Relocations are packed, which is two megabytes less. Random bytes come from the system call: what
# looks for a function of a library finds none in a static program, and an empty root has no
# /dev/urandom.
STATICALLY = -C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs \
	-C symbol-mangling-version=v0 --cfg getrandom_backend="linux_getrandom"
# The kernel maps 64 KiB around each function that is called: those of a plain run lie side by side.
# Only LLD can do this, which is the compiler's own linker for this machine.
ORDER = packaging/order.txt
IN_ORDER = $(if $(filter x86_64-%,$(PACKAGE_TARGET)),-C linker=$(abspath scripts/link-in-order))
# Databases get plain tables: SQLite goes without its indexes of texts and of places.
SQLITE = -USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 \
	-USQLITE_ENABLE_RTREE -USQLITE_ENABLE_DBSTAT_VTAB -USQLITE_ENABLE_STAT4
STATIC_COMMAND = RUSTFLAGS='$(STATICALLY)' LIBSQLITE3_FLAGS='$(SQLITE)' $(CARGO) rustc --locked \
	--profile $(PACKAGE_PROFILE) --target $(PACKAGE_TARGET) -p loadline \
	--features loadline/html,loadline/k6 --
STATIC = $(TARGET)/$(PACKAGE_TARGET)/$(PACKAGE_PROFILE)/loadline
PACKAGES = tarball deb npm formula wheel image python-image sbom sums

package: package-tools build
	@$(MAKE) --no-print-directory static
	@$(MAKE) --no-print-directory extension
	rm -rf $(PACKAGE)
	@$(MAKE) --no-print-directory packages

# Adds those for arm64, after the others: the command as one file, for Debian and for npm. It writes
# its manual itself, under an emulator.
ARM64 = aarch64-unknown-linux-gnu
package-arm64: compiler $(PAGE)
	@scripts/need aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu qemu-aarch64-static=qemu-user-static \
	  dpkg-deb=dpkg npm=npm python3=python3
	rustc=$$(scripts/rustc-for $(ARM64)) && RUSTC=$$rustc EMULATOR=qemu-aarch64-static \
		CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc \
		CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		$(MAKE) --no-print-directory static packages PACKAGE_TARGET=$(ARM64) \
		PACKAGES="tarball deb npm sums"

static:
	$(STATIC_COMMAND) -C strip=symbols $(IN_ORDER)

# From what is built: a kind of package with PACKAGES=deb, say.
packages:
	TARGET=$(PACKAGE_TARGET) EXTENSION=$(EXTENSION) PYTHON=$(TARGET)/python/bin/python3 \
		scripts/package $(PACKAGE) $(STATIC) $(PACKAGES)

# After many changes, other functions are called: this finds them anew.
order: build
	@scripts/need nm=binutils python3=python3
	$(STATIC_COMMAND) -C strip=debuginfo
	scripts/order $(STATIC) $(TARGET)/release/loadline >$(ORDER).new
	mv $(ORDER).new $(ORDER)

# Links it once more, for the systems of 2018 and later.
extension:
	touch crates/script-py/src/lib.rs
	PYTHON=$(TARGET)/python/bin/python3 RUSTC_WRAPPER=$(abspath scripts/old-glibc) \
		$(CARGO) build --release --locked -p loadline -p loadline-script-py $(FEATURES)

package-tools:
	@scripts/need dpkg-deb=dpkg npm=npm podman=podman nm=binutils python3=python3
	@scripts/python $(TARGET)/python
	$(TARGET)/python/bin/python3 -m pip install --quiet 'pyproject-metadata<1' 'wheel<1' ziglang
	@command -v cargo-cyclonedx >/dev/null || $(CARGO) install --locked cargo-cyclonedx

# Chroots need root; the rest of what the tests use is here.
test-package: package
	@scripts/need lintian=lintian ruby=ruby npm=npm podman=podman mmdebstrap=mmdebstrap \
	  unshare=util-linux
	LOADLINE_PACKAGE=$(PACKAGE) $(PROGRAM) \
		scripts/test-python $(TARGET)/python ../packaging/tests

# A plain cargo install would leave the page out, and build that into target/release.
install: compiler $(PAGE)
	$(CARGO) install --locked --path crates/loadline $(if $(HTML),--features html) \
		$(if $(SCRIPTS),--features k6) $(if $(PREFIX),--root $(PREFIX))

# A build for a first look, without scripts, pages and PNG files; one that is there does as well.
DEMO = $(TARGET)/demo/loadline
demo: compiler
	@test -x $(TARGET)/release/loadline || \
		$(CARGO) build --profile demo --locked -p loadline --no-default-features
	@loadline=$(TARGET)/release/loadline; test -x $$loadline || loadline=$(DEMO); $$loadline demo

# A receiver of StatsD that no distribution has.
RECEIVERS = $(TARGET)/receivers

# Python's tests mostly wait: the unit tests run beside them, and with MEANWHILE=lint the linters.
test: compiler $(PAGE)
	@scripts/need nginx=nginx-light openssl=openssl wrk=wrk ab=apache2-utils \
	  h2load=nghttp2-client nghttpd=nghttp2-server sqlite3=sqlite3 python3=python3 curl=curl \
	  prometheus=prometheus influxd=influxdb victoria-metrics=victoria-metrics webhook=webhook \
	  nats-server=nats-server go=golang-go
	@test -x $(RECEIVERS)/statsd_exporter || \
		GOBIN=$(RECEIVERS) go install github.com/prometheus/statsd_exporter@v0.23.1
	$(if $(HTML),@scripts/need chromium=chromium || echo "The page's test in Chromium is left out.")
	@$(MAKE) --no-print-directory build compiled-tests
	@$(MAKE) --no-print-directory --output-sync -j2 python-tests beside-python
	LOADLINE_RECEIVERS=$(RECEIVERS) $(PROGRAM) $(TESTS) --test integration -- --test-threads=4

beside-python:
	$(if $(HTML),npm --prefix web test --silent)
	@nice -n 19 $(MAKE) --no-print-directory -j1 unit-tests $(MEANWHILE)

# The profile of tests shares a folder with that of the program, and cargo selects the same features
# for both, so that what others wrote is compiled once.
TESTS = $(CARGO) test --profile bench --workspace --locked $(TESTED)
compiled-tests: compiler $(PAGE)
	$(TESTS) --no-run

# All but the integration tests, which take turns for what needs the machine alone.
unit-tests:
	$(TESTS) --no-fail-fast --lib --bins --examples --test any_words --test hour --test memory \
		--test scripts --test server --test truth
	$(TESTS) --doc

python-tests:
	$(if $(PYTHON),$(PROGRAM) scripts/test-python $(TARGET)/python)

soak: build
	@scripts/need nginx=nginx-light openssl=openssl wrk=wrk ab=apache2-utils \
	  h2load=nghttp2-client nghttpd=nghttp2-server sqlite3=sqlite3 python3=python3 curl=curl \
	  nats-server=nats-server
	@scripts/need go=golang-go mvn=maven javac=default-jdk-headless psql=postgresql || \
		echo "The studies of real services go on without them."
	PROPTEST_CASES=20000 $(PROGRAM) $(CARGO) test --workspace --locked --release $(TESTED)
	$(PROGRAM) $(CARGO) test --workspace --locked --release $(TESTED) -- --ignored --nocapture
	@$(MAKE) --no-print-directory test-package

lint: compiler $(PAGE)
	$(CARGO) fmt --all --check
	$(if $(HTML),npm --prefix web run --silent check)
	$(CARGO) clippy --profile bench --workspace --all-targets --locked $(TESTED) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --profile bench --workspace --no-deps --locked --quiet

# BENCH=--quick sees that it works; BENCH="--markdown FILE" writes the table.
bench: build
	@scripts/need nginx=nginx-light wrk=wrk ab=apache2-utils python3=python3 openssl=openssl
	python3 benches/speed.py $(BENCH)

# OLD=FILE is the build that the present one is compared with.
paired: build
	@scripts/need nginx=nginx-light wrk=wrk python3=python3 openssl=openssl
	python3 benches/paired.py $(OLD)

# What all exporters at once cost.
exporters-cost: build
	@scripts/need nginx=nginx-light python3=python3 openssl=openssl
	python3 benches/exporters.py

# What viewers of the live page cost.
viewers-cost: build
	@scripts/need nginx=nginx-light python3=python3 openssl=openssl
	python3 benches/viewers.py

# What an agent costs beside the plain command.
agents-cost: build
	@scripts/need nginx=nginx-light python3=python3 openssl=openssl nats-server=nats-server
	python3 benches/agents.py

# The time between the first requests of four agents.
start-skew: build
	@scripts/need python3=python3 nats-server=nats-server
	python3 benches/begin.py

peers:
	@CARGO="$(CARGO)" scripts/peers

fuzz: compiler
	@command -v cargo-fuzz >/dev/null || $(CARGO) install --locked cargo-fuzz
	for target in $$($(FUZZ) list); do \
		$(FUZZ) run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

# The page of the HTML report, as one file.
web: web/dist/index.html

web/dist/index.html: web/node_modules/.package-lock.json web/index.html web/package.json \
		web/vite.config.ts $(shell find web/src -type f)
	npm --prefix web run --silent build

web/node_modules/.package-lock.json: web/package-lock.json
	@scripts/need node=nodejs npm=npm
	npm --prefix web ci --no-audit --no-fund
	@touch $@

clean:
	$(CARGO) clean
	rm -rf web/dist web/node_modules

# Linking, and the assembly of the TLS library, need a C compiler.
.PHONY: compiler
compiler:
	@scripts/need cc=gcc
