# Works with GNU make 3.81. Either `uv` or any Python 3.11 to 3.14 on the path is enough; nothing is compiled.
.DEFAULT_GOAL := help
.PHONY: help setup swarm test lint unit bench clean

VENV := .venv
STAMP := $(VENV)/.installed
BIN := $(VENV)/bin

help:
	@echo "make swarm   set up, then four coding agents and a giant prompt against a real two-rank mlx_lm.server"
	@echo "make test    set up, then every check"
	@echo "make bench   set up, then the measurements of tests/benchmarks (run nothing else beside them)"

setup: $(STAMP)

$(STAMP): pyproject.toml setup.sh
	sh ./setup.sh $(VENV)
	@touch $(STAMP)

swarm: $(STAMP)
	$(BIN)/locust-agents run quickstart

# mypy has one process: beside it, the unit tests have most of two cores
test: $(STAMP)
	$(MAKE) --no-print-directory -j 2 lint unit
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not real" tests/integration
	$(BIN)/python -m pytest -m real tests/integration

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest -n 2 tests/unit

bench: $(STAMP)
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
