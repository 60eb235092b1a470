# Two commands do it all on a fresh machine: `make run` and `make test`.
PYTHON ?= python3.11
BIN := .venv/bin
STUDY ?= learners
MINUTES ?= 10

.PHONY: help setup run test check attack bench study theory lock clean

help:
	@echo "make run    set up, learn the reward of a swarm, reproduce the paper (runs/)"
	@echo "make test   set up and run all tests"
	@echo "make check  ruff, mypy --strict, import contracts"
	@echo "make attack try to break it for ten minutes (MINUTES=60: an hour): wrong arguments, damaged"
	@echo "            files, kills, limits, ...; prints what was tried and every failure"
	@echo "make bench  measure the simulator against its peers (several minutes)"
	@echo "make study  compare the learners over 100 experiments each (about an hour);"
	@echo "            STUDY=updates, transfer or other_actions: the reward updates, changed swarms"
	@echo "make theory exact study of small swarms (about ten minutes)"
	@echo "make setup  create .venv and install what requirements.lock pins"
	@echo "make lock   renew requirements.lock from pyproject.toml (needs uv)"
	@echo "make clean  remove .venv and caches"

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

run: setup
	$(BIN)/swarmdp simulate vicsek -o runs/vicsek
	$(BIN)/swarmdp fit vicsek -o runs/fit-vicsek
	$(BIN)/swarmdp evaluate runs/fit-vicsek
	$(BIN)/swarmdp reproduce -o runs/reproduction

test: setup
	$(BIN)/python -m pytest -n auto

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

attack: setup
	$(BIN)/python -m tests.campaigns --minutes $(MINUTES)

bench: setup
	$(BIN)/python -m benchmarks -o runs/bench
	$(BIN)/python -m benchmarks.studio --minutes 10 -o runs/studio

study: setup
	$(BIN)/python -m studies.$(STUDY) -o runs/$(STUDY)

theory: setup
	$(BIN)/python -m studies.small_swarms -o runs/theory

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-annotate --no-header --extra dev --extra bench --extra cluster --extra envs --extra studio --extra docs pyproject.toml -o requirements.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find src studies benchmarks tests -name __pycache__ -type d -exec rm -rf {} +
