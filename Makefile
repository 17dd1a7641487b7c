# Everything runs in .venv, which the first command builds from pinned versions.
# Needs Python 3.11 or newer, pip and make; nothing else.

VENV   := .venv
PY     := $(VENV)/bin/python
LOCK   := requirements/dev.lock
READY  := $(VENV)/.ready
EXTRAS := requirements/extras.lock
FULL   := $(VENV)/.full
PAGES  := $(VENV)/.pages
TOOLS  := $(VENV)/.tools
SOURCE := src tests benchmarks examples docs

# The first of these that runs and is new enough. A name on the PATH is not
# proof: a version manager's stub may exist and refuse to run.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint types pytest docs tables dist format lock clean fuzz test-lowest test-newest smoke mutants

help:  ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "make %-11s %s\n", $$1, $$2}'

demo: $(READY)  ## the embedded example: a binary classifier fails, isthmus does not
	@$(PY) -m isthmus compare

test: lint types pytest  ## all checks: ruff, mypy, tests and the examples in docstrings

lint: $(READY)  ## ruff: rules and format; import-linter: which room may import which
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(VENV)/bin/lint-imports --no-cache

types: $(READY)  ## mypy in strict mode
	$(PY) -m mypy

# Two test processes on one thread each are faster than two that fight for cores.
pytest: export OMP_NUM_THREADS := 1
pytest: export OPENBLAS_NUM_THREADS := 1
pytest: $(FULL)  ## the tests alone
	$(PY) -m pytest

test-all: lint types $(FULL)  ## the same with the tests that take long
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest --slow

fuzz: $(READY)  ## a thousand odd inputs; ISTHMUS_FUZZ=5000 draws others
	$(PY) -m pytest tests/fuzz

# Quick tests of what depends on other libraries, without extras; their deprecations are not ours.
CORE := tests/cli tests/tables tests/data tests/functionals tests/maps tests/plots tests/faults \
	tests/model/test_objective.py tests/model/test_solvers.py tests/test_files.py tests/test_words.py
OTHERS := -W ignore::DeprecationWarning -W ignore::FutureWarning
LOWEST := build/lowest
NEWEST := build/newest

test-lowest:  ## the core with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) requirements/lowest.py > build/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet -r build/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --no-deps .
	$(LOWEST)/bin/python -m pip check
	$(LOWEST)/bin/python -m pytest $(OTHERS) $(CORE)

test-newest:  ## the core with the newest versions that there are
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet '.[test]'
	$(NEWEST)/bin/python -m pytest $(OTHERS) $(CORE)

# A version manager's stub may exist and refuse to run: such a version counts as absent.
smoke:  ## install and run the package on every Python from 3.11 on that is here
	@for version in 3.11 3.12 3.13 3.14; do \
		python=$$(command -v python$$version || ls -d $$HOME/.pyenv/versions/$$version.*/bin/python \
			2>/dev/null | tail -1); \
		$$python -c 'import sys' 2>/dev/null || \
			python=$$(ls -d $$HOME/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -1); \
		if test -z "$$python"; then echo "Python $$version is not here: skipped."; continue; fi; \
		$$python -m venv --clear build/smoke && \
		build/smoke/bin/python -m pip install --quiet . && \
		build/smoke/bin/isthmus compare --quiet && \
		build/smoke/bin/python -P -m isthmus --version && \
		echo "Python $$version: it runs." || exit 1; \
	done

mutants: $(FULL)  ## change the code in small ways; the tests should notice: benchmarks/records/mutants.json
	$(PY) -m pip install --quiet mutmut
	$(PY) benchmarks/_mutants.py

# Warnings are errors. With ISTHMUS_GALLERY=skip the examples of the gallery are shown and not run.
docs: export OMP_NUM_THREADS := 1
docs: export OPENBLAS_NUM_THREADS := 1
docs: $(PAGES)  ## the site, in docs/_build/html, with every link checked; needs no network
	$(PY) -m sphinx -q -W --keep-going -n -b html -d docs/_build/doctrees docs docs/_build/html
	$(PY) docs/check_site.py docs/_build/html

tables: $(FULL)  ## fill in the tables of the documents from the records of the benchmarks
	@for script in docs/make_*.py; do echo $$script; $(PY) $$script || exit 1; done

# The wheel is installed into a fresh environment with what pip chooses, as a user would have it.
dist: $(TOOLS)  ## build the release, check it, install it elsewhere and try it
	rm -rf dist build/fresh
	$(PY) -m build --no-isolation --outdir dist .
	$(PY) -m twine check --strict dist/*
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/python -m pip install --quiet dist/*.whl
	cd build/fresh && bin/python -P ../../requirements/smoke.py

format: $(READY)  ## let ruff rewrite the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The versions come from the lock and nothing is resolved anew (--no-deps); the
# build backend is pinned there too (--no-build-isolation). Some distributions
# ship venv without its pip; the second line then brings pip in from outside.
$(READY): $(LOCK) pyproject.toml
	@test -n "$(PYTHON)" || { \
		echo "isthmus needs Python 3.11 or newer; none of python3.11, python3, python is." \
		     "Install it, or name it: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "isthmus needs Python 3.11 or newer; $(PYTHON) is" \
		     "$$($(PYTHON) --version 2>&1)." >&2; exit 1; }
	@echo "Preparing $(VENV) (once; about a minute) ..."
	@test -x $(PY) && $(PY) -m pip --version >/dev/null 2>&1 || \
		$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || \
		{ $(PYTHON) -m venv --clear --without-pip $(VENV) && \
		  $(PYTHON) -m pip --python $(PY) install --quiet pip==26.3; }
	@$(PY) -m pip install --quiet --no-deps -r $(LOCK)
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# The demo does without these. torch comes first and at one version: what depends on it
# would otherwise bring another build, of several gigabytes.
$(FULL): $(READY) $(EXTRAS)
	@echo "Adding torch and what else the tests of the optional parts need (once) ..."
	@$(PY) -m pip install --quiet --no-deps $$(grep '^torch==' $(EXTRAS))
	@$(PY) -m pip install --quiet --no-deps -r $(EXTRAS)
	@touch $@

$(PAGES): $(FULL) requirements/docs.lock
	@$(PY) -m pip install --quiet --no-deps -r requirements/docs.lock
	@touch $@

$(TOOLS): $(PAGES) requirements/release.lock
	@$(PY) -m pip install --quiet --no-deps -r requirements/release.lock
	@touch $@

lock:  ## renew requirements/dev.lock from the ranges in pyproject.toml
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet -e '.[dev]'
	build/lock/bin/python -m pip check
	{ grep '^#' $(LOCK); build/lock/bin/python -m pip freeze --exclude-editable; } > build/dev.lock
	mv build/dev.lock $(LOCK)

clean:  ## remove the environment and every cache
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/reference/generated
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(SOURCE) -name __pycache__ -type d -prune -exec rm -rf {} +
