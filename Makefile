# Every target sets up what it needs in .venv; PYTHON names the interpreter that makes it (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv

.PHONY: bench-gate gate-full help check check-locked table-facts table-facts-locked gate test bench check-engines lock bench-venvs e2e engine-answers image test-image bench-image lint mutmut test-pytests clean
.DEFAULT_GOAL := help

help:
	@echo "make check   the guards generated from this project's table"
	@echo "make check-locked  the same, with a fresh lock that decides what each environment has"
	@echo "make table-facts  every fact of the table changed, one at a time, and who notices"
	@echo "make table-facts-locked  the same with a fresh lock"
	@echo "make gate    every guard made to fail, for each of its subjects: is it live?"
	@echo "make gate-full  code mutants of everything that decides (long: docs/gate.md); SAMPLE=400 draws so many"
	@echo "make mutmut  layer 2 of the gate alone, by a plain mutmut run"
	@echo "make bench-gate  mutants a second, beside other programs"
	@echo "make test    the test suite"
	@echo "make test-pytests  the plugin's tests with the oldest pytest that it works with, and with the newest"
	@echo "make lint    ruff, mypy --strict, and the direction of imports"
	@echo "make check-engines  the names that engine owners import, looked up in the engines' wheels"
	@echo "make lock    write uv.lock (not committed)"
	@echo "make e2e     build and launch NemoGym from its real extra (about 400 MB of downloads)"
	@echo "make bench   what the guards cost, beside an empty pytest run"
	@echo "make bench-venvs  how long environments take to build, and how much disk"
	@echo "make image       build the image with Docker, its environments those of the table"
	@echo "make test-image  build it with every heavy extra skipped and look into it"
	@echo "make bench-image  how long the image takes to build, three times"
	@echo "make clean   remove .venv, mutmut's copies and all that gate-full has found"

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

# Bytecode is written whatever the environment says: without it a second run compiles everything again.
check check-locked gate bench-gate: export PYTHONDONTWRITEBYTECODE :=
check: $(VENV)/check-ready
	@$(BIN)/python -m pytest pyproject.toml

# The same against the lock, which decides what each environment has; without one pyproject.toml does.
check-locked: $(VENV)/check-ready lock
	@$(BIN)/python -m pytest pyproject.toml

# Changes every fact of the table, one at a time, and shows who notices; what each environment has is judged as above.
table-facts: $(VENV)/check-ready
	$(BIN)/python tools/table_facts.py

table-facts-locked: $(VENV)/check-ready lock
	$(BIN)/python tools/table_facts.py

# Exit codes: docs/gate.md. make gate GATE_OPTIONS='--since main'
gate: $(VENV)/test-ready
	$(BIN)/actor-envs gate $(GATE_OPTIONS)

test: $(VENV)/test-ready
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not e2e and not image and not slow" tests

# Downloads about 430 MB of wheels; exit code 3 says that a distribution cannot be had from the index.
check-engines: $(VENV)/uv-ready
	$(BIN)/python tools/check_engines.py --markdown docs/engines.md

lock: $(VENV)/uv-ready
	$(UV) lock

# make e2e ACTOR_PYTHON=PATH; without it one is looked for. About 400 MB of downloads, the first time.
e2e: $(VENV)/test-ready lock
	$(BIN)/python -m pytest -s -m e2e tests/e2e

bench: $(VENV)/test-ready
	$(BIN)/python tools/bench/bench_pytest.py
	$(BIN)/python tools/bench/bench_check.py

bench-gate: $(VENV)/test-ready
	$(BIN)/python -m tools.bench.bench_gate

bench-venvs: $(VENV)/test-ready
	$(BIN)/python tools/bench/bench_venvs.py

# make image IMAGE=nemo-rl IMAGE_OPTIONS='--build-arg SKIP_EXTRAS="mcore automodel"'
IMAGE ?= nemo-rl
IMAGE_OPTIONS ?=
engine-answers:
	@docker info >/dev/null 2>&1 || { echo "make image: no Docker engine answers. Without one, another program can \
	build docker/Dockerfile: docs/docker.md, section 'Without an engine'" >&2; exit 1; }

image: engine-answers lock
	docker buildx build --load $(IMAGE_OPTIONS) --file docker/Dockerfile --tag $(IMAGE) .

# Builds this project's image, every heavy extra skipped (about 400 MB of downloads). Without a Docker engine:
# make test-image IMAGE_BUILDER=PATH
test-image: $(VENV)/test-ready lock
	$(BIN)/python -m pytest -m image tests/image

# Builds it three times; the tables stand in docs/docker.md.
bench-image: $(VENV)/test-ready lock
	$(BIN)/python -m tools.bench.bench_image

lint: $(VENV)/test-ready
	$(BIN)/ruff check .
	$(BIN)/python -m mypy --strict pytest_actor_envs
	$(BIN)/lint-imports

# Starts from nothing: mutmut's cached verdicts ignore changes of tests.
mutmut: $(VENV)/test-ready
	rm -rf mutants
	$(BIN)/mutmut run
	$(BIN)/python -m tools.mutmut_verdicts mutants

# make gate-full SAMPLE=400 SEED=1 for some, NAMES='pytest_actor_envs.sources.names*' for those of a part: with set -f no
# file's name is put in place of a pattern.
SEED ?= 1
gate-full: $(VENV)/test-ready
	set -f; $(BIN)/python -m tools.gate_full $(if $(SAMPLE),--sample $(SAMPLE) --seed $(SEED)) $(GATE_FULL_OPTIONS) $(NAMES)

test-pytests: $(VENV)/test-ready
	for version in '~=8.2.0' '>=9'; do \
	  $(BIN)/python -m venv --clear $(VENV)-pytest && \
	  $(UV) pip install --quiet --python $(VENV)-pytest/bin/python --editable ./pytest_actor_envs "pytest$$version" pytest-xdist pytest-testmon && \
	  $(VENV)-pytest/bin/python -m pytest -m "" tests/plugin || exit 1; \
	done

clean:
	rm -rf $(VENV) $(VENV)-pytest mutants .gate-full
