# Every target does its own set-up; a second call re-uses it. Needs only Python (>= 3.11) and make.
PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes; without byte code each of them would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Also what `make test` leaves out, as it takes long.
ALL := -m "not browser and not server and not fuzz"

.PHONY: demo test test-all test-rest test-app test-smoke test-lowest test-gpu test-r wheel-test release-check check bench validate reproduce reproduce-full docs clean

demo: .venv/app
	$(BIN)/holdfast demo

test: .venv/dev
	$(BIN)/python -m holdfast.kernels
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

# Everything that is checked of a change: `make test`, the rest, and the page in a browser where there is one.
test-all: test test-rest test-smoke

# What takes long: tests with the mark slow, more random examples, and those of the papers' experiments.
test-rest: .venv/dev
	$(BIN)/python -m holdfast.kernels
	HYPOTHESIS_PROFILE=more $(BIN)/python -m pytest -n 2 --dist worksteal -m "(slow or hypothesis) and not browser and not server and not fuzz" $(ARGS)
	$(BIN)/python -m pytest -n 2 $(ALL) reproductions/tests $(ARGS)

test-app: .venv/dev
	$(BIN)/python -m pytest -m "browser or server or fuzz" -rs tests $(ARGS)
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -n 2 $(ALL) tests/measures/test_properties.py tests/resampling/test_resampling.py tests/plots/test_plots.py

# The short part of it that opens a browser.
test-smoke: .venv/dev
	$(BIN)/python -m pytest -m smoke -rs tests $(ARGS)

# The oldest versions that pyproject.toml allows; compiled kernels apart, as each version of numba replaces another's.
test-lowest: export PIP_CONSTRAINT := constraints-lowest.txt
test-lowest: export NUMBA_CACHE_DIR := $(CURDIR)/.venv-lowest/kernels
test-lowest: .venv-lowest/ready
	.venv-lowest/bin/python -m holdfast.kernels
	.venv-lowest/bin/python -m pytest -n 2 $(ALL) $(ARGS)

# What torch can run without a GPU. Apart from .venv: torch is large, and `make test` should not depend on whether it is there.
test-gpu: .venv-gpu/ready
	.venv-gpu/bin/python -c 'import torch; print("torch", torch.__version__)'
	.venv-gpu/bin/python -m pytest -n 2 $(ALL) tests/kernels/test_lockstep.py tests/selectors/test_hybrid_rfe.py tests/selectors/test_ties.py $(ARGS)

# The R package in r/, by R CMD check; skips with a message where there is no R.
test-r: .venv/app
	sh r/check.sh $(CURDIR)/$(BIN)/python

# The wheel, built from the source distribution, alone in an empty environment: imported, run, then with its command.
wheel-test: .venv-build/ready
	rm -rf dist .venv-wheel
	.venv-build/bin/python -m build
	$(PYTHON) -m venv .venv-wheel
	.venv-build/bin/python tests/wheel.py dist .venv-wheel

# All that a release needs, but for the tests: both distributions, their metadata, the wheel alone with the README's
# commands, and the same version everywhere.
release-check: wheel-test
	.venv-build/bin/pip install -qq twine
	.venv-build/bin/twine check --strict dist/*
	.venv-build/bin/python -c 'import re; text = open("CHANGELOG.md").read(); \
		version = re.search("^version: (.*)", open("CITATION.cff").read(), re.M)[1]; \
		assert re.search(f"^## {re.escape(version)}", text, re.M), f"no {version} in CHANGELOG.md"; print(version)'

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/check_docstrings.py

bench: .venv/dev
	$(BIN)/python -m benchmarks $(ARGS)

validate: .venv/dev
	HOLDFAST_HEAVY=1 $(BIN)/python -m pytest -n 2 $(ALL)
	$(BIN)/python tests/validity --write $(ARGS)

# All experiments of the five papers at one seed, from nothing: 88 minutes of CPU; log in build/reproduce/full/log.txt. Where it
# was stopped, the command below continues.
REPRODUCE = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m reproductions all --jobs 2 --out docs/reproductions
reproduce: .venv/dev
	rm -rf build/reproduce
	$(REPRODUCE) --stores build/reproduce $(ARGS)

# The same over four seeds, with the largest simulations: about four times as long for the seeds, and as much again for
# the simulations. It continues where it was stopped.
reproduce-full: .venv/dev
	$(REPRODUCE) --stores build/reproduce-full --large --seed 0 --seed 1 --seed 2 --seed 3 $(ARGS)

docs: .venv/dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf .venv .venv-* dist docs/_build docs/_generated

.venv/app: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -qq -e '.[app]'
	$(BIN)/python -m holdfast.kernels
	@touch $@

.venv/dev: .venv/app
	$(BIN)/pip install -qq -e '.[dev]'
	@touch $@

.venv-lowest/ready: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install -qq -e '.[test]'
	@touch $@

.venv-gpu/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-gpu
	.venv-gpu/bin/pip install -qq -e '.[test,gpu]'
	.venv-gpu/bin/python -m holdfast.kernels
	@touch $@

.venv-build/ready: constraints.txt
	$(PYTHON) -m venv .venv-build
	.venv-build/bin/pip install -qq build
	@touch $@
