# `make` lists the targets. Each one sets up what it needs; a stamp file spares the second time.
# Needed beforehand: Python >= 3.11 (another one: make PYTHON=python3.12 ...), make, a C++17 compiler.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?=
WORKERS ?= auto
ARGS ?=
MINUTES ?= 10
VERSION ?=
BIN := .venv/bin
FLOOR := .venv-floor/bin
PARTNERS := .venv-partners/bin
NATIVE_SOURCES := CMakeLists.txt pyproject.toml $(wildcard src/truerisk/*/*.?pp src/truerisk/*/*/*.?pp)
PIP := -m pip --quiet --quiet --disable-pip-version-check
# A lock names every package, so pip has nothing to resolve: its resolver takes `coverage[toml]` for one without a hash.
# Of 8,700 modules few are ever imported: Python compiles those itself, the first time.
LOCKED := $(PIP) install --no-compile --require-hashes --no-deps
LOCAL := --no-build-isolation --no-deps
COMPILERS := $(if $(filter default,$(origin CXX)),c++ g++ clang++,$(CXX))
# One BLAS thread per worker: more would fight over the cores.
QUIET_BLAS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
# What is compiled once is kept, also where the shell asks Python to keep nothing: the thousands of
# tests, and this package in each of the processes that they start.
export PYTHONDONTWRITEBYTECODE :=
PYTEST := $(QUIET_BLAS) $(BIN)/python -m pytest
ARCHITECTURE := $(wildcard tests/test_architecture*.py)
# Packages that join what the tests of engines, models, searches and faces run on old versions, too.
WHOLE_PARTS := assessment auditing diagnostics study testing validation
# Learners of packages, and pages on packages, that `make test-partners` installs and runs.
OF_PACKAGES := $(shell grep -lE '^from (xgboost|catboost)' src/truerisk/models/*.py)
PAGES_ON_PACKAGES := $(addprefix docs/,survival.md skrub.md conformal.md)
# Each worker starts with its part of the listing, so a module makes what it shares once; then it helps.
PARALLEL := -n $(WORKERS) --maxprocesses 8 --dist worksteal

# $(call new_venv,DIR): an empty environment in DIR, or one sentence on what is missing.
define new_venv
	@found=; \
	for candidate in $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python); do \
	  if command -v "$$candidate" >/dev/null 2>&1 && \
	     "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then found=$$candidate; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "truerisk needs Python 3.11 or newer$(if $(PYTHON), and $(PYTHON) is none): install it or name it, make PYTHON=/path/to/python3.11" >&2; exit 1; fi; \
	if ! "$$found" -c 'import venv, ensurepip' 2>/dev/null; then \
	  echo "$$found cannot make virtual environments: install its venv module (python3-venv on Debian)" >&2; exit 1; fi; \
	compiler=; \
	for candidate in $(COMPILERS); do command -v "$$candidate" >/dev/null 2>&1 && compiler=$$candidate; done; \
	if [ -z "$$compiler" ]; then \
	  echo "truerisk needs a C++17 compiler, and none of these is here ($(COMPILERS)): install g++ or clang++, or name one, make CXX=/path/to/g++" >&2; exit 1; fi; \
	echo "creating $(1) with $$("$$found" --version)"; \
	rm -rf $(1) && "$$found" -m venv $(1)
endef

##@ Use
.PHONY: setup
setup: .venv/.package ## create .venv, install the lock, build and install truerisk

.PHONY: demo
demo: .venv/.package ## assess four tuned learners on a bundled data set
	@$(BIN)/truerisk assess --dataset breast-cancer $(ARGS)

##@ Check
.PHONY: test
test: .venv/.package browser ## the suite without what waits (ARGS="-k nested", WORKERS=2)
	$(PYTEST) $(PARALLEL) -m "not slow" $(ARGS)

.PHONY: test-slow
test-slow: .venv/.package ## the rest of it: killed workers, clocks, drawn attacks, pages followed to the letter
	$(PYTEST) $(PARALLEL) -m slow $(ARGS)

.PHONY: check
check: .venv/.package ## the loop of a person at work: lint, types, architecture, tests of what was touched
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(PYTEST) $(PARALLEL) $(ARCHITECTURE) $$($(BIN)/python tests/support/touched.py) $(ARGS)

.PHONY: browser
browser: .venv/.lock ## find the chromium that the report is tested in, or install one
	@$(BIN)/python tests/report/chromium.py

.PHONY: coverage
coverage: .venv/.package browser ## the whole suite with branch coverage, and its floor
	$(PYTEST) $(PARALLEL) --cov --cov-report=term-missing $(ARGS)

.PHONY: format
format: .venv/.lock ## rewrite the sources in the house format
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

.PHONY: format-check
format-check: .venv/.lock ## fail on a file that `make format` would change
	$(BIN)/ruff format --check .

.PHONY: lint
lint: .venv/.package ## ruff, the docstrings of public names, and the changelog fragments
	$(BIN)/ruff check .
	$(BIN)/python -m tests.support.docstrings
	@$(BIN)/towncrier build --draft --version next --date today >/dev/null

.PHONY: types
types: .venv/.package ## mypy, strict, over src and typing_tests
	$(BIN)/mypy

.PHONY: architecture
architecture: .venv/.package ## the packages: import contracts and tests/test_architecture*.py
	$(BIN)/lint-imports --no-logo
	$(PYTEST) $(ARCHITECTURE)

.PHONY: branches
branches: .venv/.package ## cut off each branch of ARCHITECTURE.md's table in a process of its own (ARGS=racing)
	$(BIN)/python -m tests.branches $(ARGS)

# All pages are read anew (-E): the search forgets the index of those that are not. Examples are kept,
# and no page of a name that moved is left over.
.PHONY: docs
docs: .venv/.package ## build the documentation, warnings are errors
	@rm -rf docs/api/generated docs/_build/html/api docs/_build/html/*.html
	$(QUIET_BLAS) $(BIN)/sphinx-build -E -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

.PHONY: links
links: ## every link of the built pages (seconds, after `make docs`)
	$(PYTEST) tests/site/test_links.py

.PHONY: site
site: links browser ## the built pages in a browser: axe, telephones, the dark, the words people search (minutes)
	$(PYTEST) tests/site/test_in_browser.py $(ARGS)

.PHONY: doctest
# The blocks of CONTRIBUTING.md are files that do not exist yet; tests/test_contributing.py runs them.
doctest: .venv/.package ## run every example of docstrings and pages
	$(PYTEST) --doctest-modules src $(OF_PACKAGES:%=--ignore=%)
	$(PYTEST) --doctest-glob='*.md' --doctest-glob='*.rst' $(filter-out CONTRIBUTING.md,$(wildcard *.md)) docs $(PAGES_ON_PACKAGES:%=--ignore=%)

.PHONY: attack
attack: .venv/.package ## draw cases against every engine (MINUTES=10, ARGS="--seed 5000 --only Ridge")
	$(QUIET_BLAS) $(BIN)/python -m tests.adversary --minutes $(MINUTES) $(ARGS)

.PHONY: bench
bench: .venv/.package ## peers and truerisk in alternation, printed as ratios
	$(QUIET_BLAS) $(BIN)/python -m benchmarks $(ARGS)

.PHONY: benchmarks-page
benchmarks-page: .venv/.package ## write docs/benchmark-history.md from the results in benchmarks/stored
	@$(BIN)/python -m benchmarks.history

.PHONY: calibration
calibration: .venv/.package ## do intervals keep their promise? the short form of the battery
	@mkdir -p build && rm -rf build/calibration.db*
	$(QUIET_BLAS) $(BIN)/python -m benchmarks.calibration --short --store build/calibration.db --executor 2 \
		--at-least 0.85 $(ARGS)

.PHONY: reproduce-all
reproduce-all: .venv/.package ## draw the documents' experiments anew and compare their verdicts with the stored ones (hours)
	$(QUIET_BLAS) $(BIN)/python -m tests.experiments $(ARGS)

# What a browser does with a page depends on no package, and `make test` shows it, as it shows that
# benchmarks and tools work; no more do kills, clocks, drawn attacks and pages: `make test-slow`.
# Experiments, plans of samples and comparisons only join what other tests run here on the
# oldest packages: their numbers and words are tested once.
# The OpenBLAS of that time rounds A B and B A differently on processors that came after it.
.PHONY: test-floor
test-floor: .venv-floor/.package ## what depends on versions, with the oldest supported dependencies
	@$(FLOOR)/python tests/report/chromium.py
	OPENBLAS_CORETYPE=Haswell $(QUIET_BLAS) $(FLOOR)/python -m pytest $(PARALLEL) $(ARCHITECTURE:%=--ignore=%) \
	  $(addprefix --ignore=tests/,golden benchmarks support experiments planning comparison $(WHOLE_PARTS)) \
	  --ignore-glob='tests/*/test_*in_browser.py' -m "not slow or releases" $(ARGS)

.PHONY: test-partners
test-partners: .venv-partners/.package ## what people bring beside: optuna, scikit-optimize, boosters, scikit-survival, imbalanced-learn, skore, skrub, MAPIE
	@$(PARTNERS)/python -c 'import optuna_integration, mapie, skore, skrub, skopt, imblearn, xgboost, lightgbm, catboost, sksurv'
	$(QUIET_BLAS) $(PARTNERS)/python -m pytest tests/partners --doctest-glob='*.md' $(PAGES_ON_PACKAGES) $(ARGS)

# -S keeps the editable install of .venv out of the way, so that the instrumented build is imported.
# Python itself leaks by design: only what the kernels do to memory is judged.
.PHONY: sanitize
sanitize: .venv/.package ## the kernel tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@rm -rf build/sanitize/site
	$(BIN)/python $(PIP) install $(LOCAL) --target build/sanitize/site \
	  -C build-dir=build/sanitize/cmake -C cmake.build-type=RelWithDebInfo -C install.strip=false \
	  -C cmake.define.TRUERISK_SANITIZE=ON .
	@runtime=$$($(CXX) -print-file-name=libasan.so); cxx=$$($(CXX) -print-file-name=libstdc++.so); \
	if [ ! -e "$$runtime" ]; then echo "$(CXX) has no libasan.so: make sanitize needs g++ with its sanitizers" >&2; exit 1; fi; \
	packages=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))'); \
	export PYTHONPATH="$(CURDIR)/build/sanitize/site:$$packages" LD_PRELOAD="$$runtime $$cxx" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc $(QUIET_BLAS); \
	$(BIN)/python -S -c 'from truerisk.kernels import _native; assert "sanitize" in _native.__file__, _native' && \
	$(BIN)/python -S -m pytest -p no:cacheprovider --capture=sys tests/kernels $(ARGS)

.PHONY: dist
dist: .venv/.package ## the source, and a wheel without compiled loops for any platform, into dist
	@rm -rf dist
	$(BIN)/python -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")'
	@! tar tzf dist/*.tar.gz | grep -E '/(\.venv[^/]*|__pycache__|build)/'
	$(BIN)/python $(PIP) wheel $(LOCAL) -w dist -C wheel.cmake=false .

# The compiled wheel is built from the source that is sent out, so that nothing is missing there.
.PHONY: wheel
wheel: dist ## build a wheel from that source, try both in a clean environment, and type the install lines
	@rm -rf build/wheel
	$(BIN)/python $(PIP) wheel $(LOCAL) -w dist -C build-dir=$(CURDIR)/build/wheel/cmake -C wheel.py-api=cp312 dist/*.tar.gz
	$(call new_venv,build/wheel/venv)
	build/wheel/venv/bin/python $(LOCKED) -r requirements/runtime.lock
	build/wheel/venv/bin/python $(PIP) install --no-deps --no-index dist/truerisk-*-none-any.whl
	cd build/wheel && venv/bin/truerisk --version | grep 'are off: the compiled module' \
	  && venv/bin/truerisk assess --dataset wine --models knn,lda 2>&1 | grep -c 'fitted one by one'
	build/wheel/venv/bin/python $(PIP) install --no-deps --no-index --force-reinstall dist/truerisk-*-cp*.whl
	cd build/wheel && venv/bin/python -c 'import truerisk.kernels as k; assert k.is_available(), k.unavailability_reason(); assert "wheel" in k.__file__, k' \
	  && venv/bin/truerisk --help >/dev/null && venv/bin/python -m pip check
	$(BIN)/python tests/support/install_lines.py
	@ls -l dist | awk 'NR > 1 {print $$5, $$9}'

##@ Housekeeping
.PHONY: lock
lock: ## resolve the lock files anew (needs uv on the PATH)
	@command -v uv >/dev/null || { echo "make lock needs uv on the PATH" >&2; exit 1; }
	$(RESOLVE) pyproject.toml --group dev --extra dask --extra io --extra plot -o requirements/dev.lock
	$(RESOLVE) pyproject.toml --group test --group build -c requirements/floor.in -o requirements/floor.lock
	$(RESOLVE) pyproject.toml --group partners --group build -c requirements/dev.lock -o requirements/partners.lock
	$(RESOLVE) pyproject.toml -c requirements/dev.lock -o requirements/runtime.lock
RESOLVE := uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --custom-compile-command "make lock"

.PHONY: release
release: .venv/.package ## put the changelog together and set the version (VERSION=0.1.0); commits nothing
	@$(BIN)/python tests/support/release.py "$(VERSION)"

.PHONY: clean
clean: ## remove everything that make has made
	rm -rf .venv .venv-floor .venv-partners build dist docs/_build docs/auto_examples docs/api/generated
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +

.PHONY: help
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile

# ---------------------------------------------------------------- what the stamps stand for

.venv/.lock: requirements/dev.lock
	$(call new_venv,.venv)
	@echo "installing the locked dependencies"
	@$(BIN)/python $(LOCKED) -r requirements/dev.lock
	@touch $@

# The editable install knows the packages by their __init__ files: a new or lost file is installed anew.
build/sources: FORCE
	@mkdir -p build; find src -name '*.py' | LC_ALL=C sort > $@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi
.PHONY: FORCE
FORCE:

.venv/.package: .venv/.lock build/sources $(NATIVE_SOURCES)
	@echo "building truerisk"
	@$(BIN)/python $(PIP) install $(LOCAL) -C build-dir=build/editable -e .
	@touch $@

.venv-floor/.lock: requirements/floor.lock
	$(call new_venv,.venv-floor)
	@echo "installing the oldest supported dependencies"
	@$(FLOOR)/python $(LOCKED) -r requirements/floor.lock
	@touch $@

# Other environments are given this wheel: its compiled module is that of .venv, and none of theirs.
WHEEL := build/whole/.wheel
$(WHEEL): .venv/.package $(shell find src -name '*.py')
	@rm -rf build/whole
	@$(BIN)/python $(PIP) wheel $(LOCAL) -C build-dir=build/editable -w build/whole .
	@touch $@

.venv-floor/.package: .venv-floor/.lock $(WHEEL)
	@$(FLOOR)/python $(PIP) install --no-deps --no-index --force-reinstall build/whole/*.whl
	@touch $@

.venv-partners/.lock: requirements/partners.lock
	$(call new_venv,.venv-partners)
	@echo "installing the packages of tests/partners"
	@$(PARTNERS)/python $(LOCKED) -r requirements/partners.lock
	@touch $@

.venv-partners/.package: .venv-partners/.lock $(WHEEL)
	@$(PARTNERS)/python $(PIP) install --no-deps --no-index --force-reinstall build/whole/*.whl
	@touch $@
