# make demo and make test need nothing but Python >= 3.11: the first run makes .venv, later runs start at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test test-full bench lint docs clean

setup: $(VENV)/.test-installed $(VENV)/.lint-installed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.test-installed: pyproject.toml test/models.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --requirement test/models.txt \
	  || echo "the model packages of test/models.txt could not be installed: their tests are skipped"
	touch $@

$(VENV)/.lint-installed: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[lint]'
	touch $@

demo: $(VENV)/.test-installed | build
	@sh docs/demo.sh $(BIN) build

test: $(VENV)/.test-installed
	@$(BIN)/pytest --quiet --numprocesses auto

test-full: $(VENV)/.test-installed
	@$(BIN)/pytest --quiet --numprocesses auto -m ""

bench: $(VENV)/.test-installed
	mkdir -p build
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/compile_time.py --json build/compile_time.json
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/run_time.py --json build/run_time.json
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/memory.py --page build/memory_models.md --json build/memory.json
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/streams.py --json build/streams.json

lint: $(VENV)/.lint-installed $(VENV)/.test-installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

docs: $(VENV)/.test-installed
	$(BIN)/python docs/generate.py

build:
	mkdir -p $@

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
	find ge_dialect test docs bench -name __pycache__ -type d -exec rm -rf {} +
