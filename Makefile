# make demo    a first flow, from nothing to a picture
# make test    everything a change must pass: tests, lint, types, import contracts
#
# Needs Linux, Python 3.11+ and a C++ compiler. Choose the interpreter with  make PYTHON=python3.12 ...

PYTHON ?= python3
VENV   ?= .venv
LOWEST ?= .venv-lowest
MEASURED ?= .venv-coverage
CLEAN  ?= .venv-wheel
CUDA   ?= 13
BIN    := $(VENV)/bin
FAST   := not slow and not gpu and not multigpu
PARALLEL := --numprocesses $(shell expr $$(nproc) \* 2) --maxprocesses 8 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo validate test test-lowest test-all test-gpu test-emulated test-runtime compiled coverage measured \
  lint words hooks docs wheel release publish clean

help:
	@echo "make demo      install, compute the first case of the README, draw a picture of it"
	@echo "make validate  compare the lid-driven cavity at Re = 1000 with Ghia et al. (minutes)"
	@echo "make test      lint and the fast tests (minutes)"
	@echo "make test-lowest  the fast tests with the lowest versions that pyproject.toml allows"
	@echo "make test-all  lint and all CPU tests, the long validations included"
	@echo "make test-gpu  the tests that need GPUs (CUDA=12 or CUDA=13)"
	@echo "make test-emulated  the kernels for GPUs, without one: their texts, run by the host compiler with fibers for threads"
	@echo "make test-runtime  the runtime's tests, where nothing but the runtime is"
	@echo "make coverage  the fast tests, and docs/notes/coverage.md: the lines that none of them reaches (an hour)"
	@echo "make lint      ruff, mypy, import contracts"
	@echo "make words     the counts of phrases that docs/contributing/english.md replaces"
	@echo "make hooks     run ruff, mypy and the count of phrases before each commit in this clone"
	@echo "make docs      the documentation site, into site/"
	@echo "make wheel     source archive and wheel, into dist/; tries the wheel in a new environment elsewhere"
	@echo "make release   make wheel, and all checks of a release: a dry run, except for a tag"
	@echo "make publish   upload dist/ to PyPI, which trusts the workflow of releases alone"
	@echo "make clean     remove what these targets made ($(VENV), $(LOWEST), $(MEASURED), $(CLEAN), dist, site, tool caches; not runs)"

demo: $(VENV)/installed
	$(BIN)/taskflow run examples/cavity.toml -o runs/cavity --force
	$(BIN)/taskflow plot runs/cavity

validate: $(VENV)/installed
	$(BIN)/taskflow run examples/lid_driven_cavity.toml -o runs/lid_driven_cavity --force
	$(BIN)/python examples/compare_with_ghia.py runs/lid_driven_cavity

# Tests begin hundreds of processes: none should have to compile the package again, whatever the environment says.
test test-lowest test-all test-gpu test-emulated test-runtime coverage measured: export PYTHONDONTWRITEBYTECODE =

# Two processes for a core, a file of tests to each: many tests wait, for clusters and for other processes.
test: $(VENV)/installed-dev
	$(MAKE) --no-print-directory --jobs=2 lint compiled
	$(BIN)/python -m pytest -m "$(FAST)" $(PARALLEL)

# Those processes begin together, and each would compile all files of tests: one does it before, beside lint.
compiled: $(VENV)/installed-dev
	-@$(BIN)/python -m pytest --collect-only --quiet >/dev/null

# uv chooses the lowest version of each direct requirement; those of others are the latest.
test-lowest: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python -m uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/python -m uv pip install --quiet --python $(LOWEST) --resolution lowest-direct --editable ".[dev]"
	$(LOWEST)/bin/python -m pytest -m "$(FAST)" --ignore=tests/docs $(PARALLEL)

test-all: lint
	$(BIN)/python -m pytest -m "not gpu and not multigpu" --hypothesis-profile=thorough $(PARALLEL)

test-gpu: $(VENV)/installed-cuda$(CUDA)
	$(BIN)/python -m pytest -m "gpu or multigpu"

test-emulated: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m "gpu and not multigpu" --emulate $(PARALLEL)

test-runtime: $(VENV)/installed-dev
	$(BIN)/python -m pytest tests/test_runtime.py

# Python 3.12 and later report lines themselves (sys.monitoring), which costs tests next to nothing. Without such an
# interpreter the environment of the other targets measures, and takes several times as long.
MONITORED = $(shell for python in python3.14 python3.13 python3.12 $(HOME)/.pyenv/versions/3.1[2-9]*/bin/python; do \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && { echo "$$python"; break; }; done)
coverage:
	python="$(MONITORED)"; $(MAKE) --no-print-directory measured $${python:+PYTHON=$$python VENV=$(MEASURED)}

# Worker processes are measured, too. The page is written even if a test fails, and the target fails then.
measured: $(VENV)/installed-dev
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "$(FAST)" $(PARALLEL); code=$$?; \
	  $(BIN)/coverage combine --quiet && $(BIN)/python docs/coverage_page.py && exit $$code

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

words: $(VENV)/installed-dev
	$(BIN)/python -m tests.words

hooks: $(VENV)/installed-dev
	$(BIN)/pre-commit install

docs: $(VENV)/installed-docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs site
	@echo site/index.html

# The wheel is built from the source archive, and used where no checkout is.
wheel: $(VENV)/installed-dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	deploy/try_wheel.sh $(PYTHON) $(CLEAN) dist

release: wheel
	$(BIN)/python deploy/release.py dist
	$(CLEAN)/bin/uv publish --dry-run dist/*

publish: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv publish --trusted-publishing always dist/*

clean:
	rm -rf $(VENV) $(LOWEST) $(MEASURED) $(CLEAN) dist site .coverage .coverage.* docs/examples/gallery docs/gallery/runs docs/sg_execution_times.rst .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

# One environment; a stamp per set of requirements, older than pyproject.toml means install again.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "taskflow needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	@touch $@ $(VENV)/installed

# The extras ucx and cuda12 would both own the module ucxx.
comma := ,
$(VENV)/installed-dev: EXTRAS = dev$(if $(wildcard $(VENV)/installed-cuda12),,$(comma)ucx)
$(VENV)/installed-docs: EXTRAS = docs
$(VENV)/installed-cuda12: EXTRAS = dev,cuda12
$(VENV)/installed-cuda13: EXTRAS = dev,cuda13
