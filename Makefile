# The commands of this project. `make demo` and `make test` do all the set-up themselves.
# Every folder this makes is git-ignored: build*/, .venv/, .pragma/.

PREFIX ?= /usr/local
SETUP := tools/setup.sh
FUZZ_SECONDS ?= 60
FOLDER ?= out/pragma
SINCE ?= main

.PHONY: all demo test test-changed lint format asan tsan fuzz coverage install portable clean help

all: ## build/pragma
	@$(SETUP) packages build
	@$(SETUP) venv
	@$(SETUP) build release pragma pragma_programs

demo: all ## set up, then the built-in expert on a plain task and a fused one, with real builds, checks and timings
	@tools/demo.sh

test: ## set up, then every test, the layer check and the format check
	@$(SETUP) packages build test
	@$(SETUP) venv
	@$(SETUP) litellm
	@$(SETUP) build release
	@.venv/bin/python tools/run_tests.py --build build

test-changed: ## the tests that the changes since SINCE (main) can affect; all of them with CI=true
	@$(SETUP) packages build test
	@$(SETUP) venv
	@$(SETUP) litellm
	@$(SETUP) build release
	@.venv/bin/python tools/run_tests.py --build build --since "$(SINCE)"

lint: ## clang-tidy 19, clang-format 19, ruff, mypy; LAYERS="base core" limits it to C++ of these
	@$(SETUP) packages build lint
	@tools/lint.sh $(LAYERS)

format: ## rewrite the sources with clang-format 19
	@$(SETUP) packages lint
	@tools/format.sh fix

# Thread sanitizers need a fixed address layout; newer kernels randomise too much for g++ 12's.
asan tsan: ## the C++ tests under address+undefined, or thread, sanitizers
	@$(SETUP) packages build
	@$(SETUP) venv
	@$(SETUP) build $@
	@TSAN_OPTIONS="suppressions=$(CURDIR)/tools/tsan.supp" setarch -R .venv/bin/python tools/run_tests.py --build build-$@ --only ctest

fuzz: ## each fuzz target for FUZZ_SECONDS (60)
	@$(SETUP) packages build fuzz
	@$(SETUP) build fuzz fuzz_targets
	@fuzz/run.sh $(FUZZ_SECONDS)

coverage: ## line coverage of the C++ tests, as text and build-coverage/coverage.html
	@$(SETUP) packages build coverage
	@$(SETUP) venv
	@$(SETUP) build coverage
	@tools/coverage.sh

install: all ## into PREFIX (/usr/local)
	@cmake --install build --prefix "$(PREFIX)"
	@$(SETUP) venv "$(PREFIX)/share/pragma/.venv"
	@echo "installed: $(PREFIX)/bin/pragma"

portable: all ## FOLDER=out/pragma: what another machine needs (Python with torch is its own)
	@$(SETUP) packages build portable
	@tools/portable.sh build "$(FOLDER)"

clean: ## remove what was built; keeps .venv and .pragma
	@rm -rf build build-dev build-asan build-tsan build-lint build-fuzz build-coverage

help:
	@sed -n 's/^\([a-z -]*\):.*## /\1: /p' Makefile
