# Every target creates the environment first when it is missing or out of date.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test lint docs bench clean

demo: $(READY)
	$(BIN)/dpdag fit Sachs --out run/sachs --overwrite

# One process per core, each of one thread: more would only wait for each other.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow and not gpu"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY) $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(READY)
	$(BIN)/python benchmarks/sampling.py

clean:
	rm -rf $(VENV)

# torch comes first and alone, so that no other package resolves it anew.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

$(VENV)/.docs: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	touch $(VENV)/.docs
