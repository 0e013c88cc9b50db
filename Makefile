# The commands of the front door. Each one builds first what it needs.
#   make build        library, Fortran module, benchmark suite in build/release; Python packages in .venv
#   make demo         the tsunami example: about a minute once it is built, ends with a table and pictures
#   make test         everything that is tested with the default MPI (WERROR=ON: warnings are errors)
#   make quick        what to run before a commit, in a minute and a half: units, one and three ranks, style
#   make test-mpich   the compiled tests again, with MPICH
#   make test-nodes   the compiled tests on separate nodes (network namespaces), and over GlusterFS; needs root
#   make test-model   the model of the stage, tried in every order of steps by the checker Spin: some minutes
#   make tsan         the tests of storing in the background, under ThreadSanitizer: some minutes
#   make test-format  the door as a format of netCDF-C 4.10, which is fetched and compiled first: five minutes
#   make test-fuzz    what reads files and settings, with any bytes: 60 s each, with clang
#   make test-all     all of these, every driver on every number of ranks, every state after a crash, and the
#                     sanitizers
#   make install      to PREFIX (default /usr/local), below DESTDIR; benchmark suite and laboratory too with BENCH=ON
#                     (COMMAND=bundled, system, off: docs/install.md)
#   make docs         the site of the documentation, in build/site: its own Python environment, Doxygen, Graphviz
#   make dist         build/shoal-VERSION.tar.gz, the sources of the commit, for packages (packaging/README.md)
#   make format       rewrite the sources in the project's style
#   make check        style and include directions only
#   make clean        remove build/ and .venv/
SHELL := /bin/bash
PREFIX ?= /usr/local
TEST_ALL ?= OFF
WERROR ?= OFF
BENCH ?= ON
COMMAND ?= bundled
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help build deps configure library python demo test quick test-mpich test-nodes test-model test-format test-fuzz test-asan test-tsan tsan test-all install docs dist format check clean

help:
	@sed -n '2,20s/^#   //p' Makefile

# Python packages of others come while the library is compiled, and Shoal's own while the rest is.
build: configure
	@tools/python_env.sh build/release others & others=$$!; \
	cmake --build --preset release -j $(JOBS) --target shoal; compiled=$$?; wait $$others; exit $$compiled
	@tools/python_env.sh build/release & python=$$!; \
	cmake --build --preset release -j $(JOBS); compiled=$$?; wait $$python && exit $$compiled

deps:
	@tools/install-deps.sh

# Ninja decides what is out of date; configuring again is cheap and notices a changed preset.
configure: deps
	cmake --preset release --log-level=WARNING -DSHOAL_TEST_ALL=$(TEST_ALL) -DSHOAL_WERROR=$(WERROR) -DSHOAL_BENCH=$(BENCH)

library: configure
	cmake --build --preset release -j $(JOBS)

python: library
	@tools/python_env.sh build/release

# The library, the one program and what draws the pictures; no tests, no benchmark suite.
demo: configure
	cmake --build --preset release -j $(JOBS) --target shoal tsunami
	@tools/python_env.sh build/release demo
	examples/tsunami/demo.sh

test: build
	tools/test.sh release

quick: build
	tools/test.sh release quick style includes

test-mpich:
	@tools/install-deps.sh --mpich
	cmake --preset mpich --log-level=WARNING -DSHOAL_TEST_ALL=$(TEST_ALL) -DSHOAL_WERROR=$(WERROR)
	cmake --build --preset mpich -j $(JOBS)
	tools/test.sh mpich ctest examples

test-nodes: library
	@tools/install-deps.sh --nodes || echo "going on with what is there"
	tools/test.sh release nodes

test-model:
	@tools/install-deps.sh --model || echo "going on with what is there"
	tools/test.sh release model

test-format: build
	tools/test.sh release format

test-fuzz:
	@tools/install-deps.sh --fuzz || echo "going on with what is there"
	tools/test.sh fuzz fuzz

test-asan test-tsan: test-%: deps
	cmake --preset $* --log-level=WARNING
	cmake --build --preset $* -j $(JOBS)
	tools/test.sh $* ctest

tsan: deps
	cmake --preset tsan --log-level=WARNING
	cmake --build --preset tsan -j $(JOBS) --target faults_tests conformance_tests threads_single threads_unclosed threads_late
	ctest --preset tsan -R '^(tsan|threads\.(single|unclosed|late))\.' --no-tests=error

test-all: TEST_ALL = ON
test-all: test test-mpich test-nodes test-model test-format test-fuzz test-asan test-tsan

# Who installs Shoal gets neither benchmark suite nor laboratory, and waits for no tests to be compiled.
install: BENCH = OFF
install: deps
	cmake --preset release --log-level=WARNING -DSHOAL_TEST_ALL=$(TEST_ALL) -DSHOAL_WERROR=$(WERROR) \
	  -DSHOAL_BENCH=$(BENCH) -DSHOAL_LAB=$(BENCH)
	cmake --build --preset release -j $(JOBS) --target installable
	@DESTDIR='$(DESTDIR)' COMMAND='$(COMMAND)' JOBS=$(JOBS) tools/install.sh build/release '$(PREFIX)'

docs:
	@tools/install-deps.sh --docs || echo "going on with what is there"
	@tools/docs.sh

dist:
	@mkdir -p build
	@name=shoal-$$(sed -n 's/^project(shoal VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) && \
	git archive --prefix=$$name/ -o build/$$name.tar.gz HEAD && sha256sum build/$$name.tar.gz

format: python
	git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 .venv/bin/clang-format -i
	.venv/bin/ruff check --fix --no-cache . ; .venv/bin/ruff format --no-cache .

check: python
	tools/test.sh release style includes

clean:
	rm -rf build .venv
