# Every target sets up what it needs in .venv; PYTHON names the interpreter that makes it (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv

.PHONY: help check test check-engines lock clean
.DEFAULT_GOAL := help

help:
	@echo "make check   the guards generated from this project's table"
	@echo "make test    the test suite"
	@echo "make check-engines  the names that engine owners import, looked up in the engines' wheels"
	@echo "make lock    write uv.lock (not committed)"

$(VENV)/uv-ready:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet uv
	touch $@

$(VENV)/check-ready: $(VENV)/uv-ready pytest_actor_envs/pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python --editable ./pytest_actor_envs
	touch $@

$(VENV)/test-ready: $(VENV)/check-ready pyproject.toml
	$(UV) pip install --quiet --python $(BIN)/python --editable . --editable './pytest_actor_envs' --group test
	touch $@

check: $(VENV)/check-ready
	@$(BIN)/python -m pytest pyproject.toml

test: $(VENV)/test-ready
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not e2e and not image and not slow" tests

# Downloads about 430 MB of wheels; exit code 3 says that a distribution cannot be had from the index.
check-engines: $(VENV)/uv-ready
	$(BIN)/python tools/check_engines.py --markdown docs/engines.md

lock: $(VENV)/uv-ready
	$(UV) lock

clean:
	rm -rf $(VENV)
