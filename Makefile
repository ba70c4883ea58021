# Every target does its own set-up; a second call re-uses it. Needs only Python (>= 3.11) and make.
PYTHON ?= python3
BIN := .venv/bin
export PIP_CONSTRAINT := constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-app check bench validate docs clean

demo: .venv/app
	$(BIN)/holdfast demo

test: .venv/dev
	$(BIN)/python -m holdfast.kernels
	$(BIN)/python -m pytest -n 2 $(ARGS)

test-app: .venv/dev
	$(BIN)/python -m pytest -m browser -rs tests $(ARGS)
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -n 2 tests/test_properties.py tests/test_resampling.py tests/test_plots.py

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/check_docstrings.py

bench: .venv/dev
	$(BIN)/python -m benchmarks $(ARGS)

validate: .venv/dev
	HOLDFAST_HEAVY=1 $(BIN)/python -m pytest -n 2
	$(BIN)/python tests/validity --write $(ARGS)

docs: .venv/dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf .venv docs/_build docs/_generated

.venv/app: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -qq -e '.[app]'
	$(BIN)/python -m holdfast.kernels
	@touch $@

.venv/dev: .venv/app
	$(BIN)/pip install -qq -e '.[dev]'
	@touch $@
