# Two commands do it all on a fresh machine: `make run` and `make test`.
PYTHON ?= python3.11
BIN := .venv/bin
STUDY ?= learners
MINUTES ?= 10

.PHONY: help setup kernels run test coverage check docs release-check attack bench study theory lock clean

help:
	@echo "make run    set up, learn the reward of a swarm, reproduce the paper (runs/)"
	@echo "make test   set up and run all tests"
	@echo "make coverage  run the tests and say which lines no test reaches"
	@echo "make check  ruff, mypy --strict, import contracts"
	@echo "make docs   build the documentation site: docs/_build/html/index.html"
	@echo "make release-check  what must hold before a version is released"
	@echo "make attack try to break it for ten minutes (MINUTES=60: an hour): wrong arguments, damaged"
	@echo "            files, kills, limits, ...; prints what was tried and every failure"
	@echo "make bench  measure the simulator against its peers (several minutes)"
	@echo "make study  compare the learners over 100 experiments each (about an hour);"
	@echo "            STUDY=updates, transfer or other_actions: the reward updates, changed swarms"
	@echo "make theory exact study of small swarms (about ten minutes)"
	@echo "make setup  create .venv and install what requirements.lock pins"
	@echo "make kernels compile all kernels, on all cores (run and test do so; a minute, once)"
	@echo "make lock   renew requirements.lock from pyproject.toml (needs uv)"
	@echo "make clean  remove .venv and caches"

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

kernels: setup
	@$(BIN)/python -m swarmdp.cli.precompile

run: setup kernels
	@echo "1 of 2: learn the reward behind a swarm, from five recorded runs (under a minute)"
	$(BIN)/swarmdp fit vicsek --demo-runs 5 -o runs/fit-vicsek
	@echo "2 of 2: the paper's figures and claims at a small scale (a minute or two)"
	$(BIN)/swarmdp reproduce -o runs/reproduction
	@echo "Look at these two pages, they open in any browser:"
	@echo "  file://$(CURDIR)/runs/fit-vicsek/report.html     a swarm, its reward, and the verdict"
	@echo "  file://$(CURDIR)/runs/reproduction/report.html   the paper, reproduced"

test: setup kernels
	$(BIN)/python -m pytest -n auto --dist worksteal

# The tests that only build archives, attack or measure say nothing about single lines.
coverage: setup kernels
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term \
		--ignore=tests/test_package.py --ignore=tests/test_tutorials.py --ignore=tests/benchmarks --ignore=tests/studies \
		--deselect=tests/envs/test_black_box.py::test_a_step_of_a_millisecond_costs_a_fifth_more_at_most

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

docs: setup kernels
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

release-check: setup
	$(BIN)/python -m tools.release_check

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
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist docs/_build docs/reference/generated
	rm -rf src/swarmdp/kernels/compiled
	find src studies benchmarks tests -name __pycache__ -type d -exec rm -rf {} +
