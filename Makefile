# Two commands do it all on a fresh machine: `make run` and `make test`.

# A Python from 3.11 on; 3.11 first, for which every pinned package comes compiled.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && echo $$python && break; done)
BIN := .venv/bin
# Bytecode is kept, also where the environment says otherwise: without it each of the hundreds of
# processes that tests start would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=
STUDY ?= learners
MINUTES ?= 10
# Tests do not write bytecode themselves: some of them limit the size of files, and Python 3.11 then
# keeps half of a module's bytecode, which no later process can import.
PYTEST := PYTHONDONTWRITEBYTECODE=1 $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: help setup setup-run kernels kernels-run bytecode run test test-slow test-all coverage check docs release-check attack bench study theory pictures lock clean

help:
	@echo "make run    set up, learn the reward of a swarm, reproduce the paper (runs/)"
	@echo "make test   set up and run the tests, all but the slow ones"
	@echo "make test-all  the same and then the slow ones (make test-slow): archives, browsers, clusters,"
	@echo "            tutorials, studies, benchmarks, attacks, whole reproductions; tests/slow.py lists them"
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
	@echo "make setup  create .venv and install what requirements.lock pins; PYTHON=... says with which Python"
	@echo "make kernels compile all kernels, on all cores (tests do so; a minute, once)"
	@echo "make pictures  make the pictures of README and of the index pages again"
	@echo "make lock   renew both locks from pyproject.toml"
	@echo "make clean  remove .venv and caches"

# $(call set_up,OPTIONS)
define set_up
	@python="$(PYTHON)"; test -n "$$python" || { echo "swarmdp needs Python 3.11 or newer, and none was found:" \
		"install one, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	"$$python" tools/set_up.py $(1)
endef

setup:
	$(call set_up)

# What `make run` needs is a quarter of all, and comes compiled for every Python from 3.11 on.
setup-run:
	$(call set_up,--run)

kernels: setup
	@$(BIN)/python -m swarmdp.cli.precompile

kernels-run: setup-run
	@$(BIN)/python -m swarmdp.cli.precompile --for run

run: setup-run kernels-run
	@echo "1 of 2: learn the reward behind a swarm, from five recorded runs (under a minute)"
	$(BIN)/swarmdp fit vicsek --demo-runs 5 -o runs/fit-vicsek
	@echo "2 of 2: the paper's figures and claims at a small scale (a minute or two)"
	$(BIN)/swarmdp reproduce -o runs/reproduction
	@echo "Look at these two pages, they open in any browser:"
	@echo "  file://$(CURDIR)/runs/fit-vicsek/report.html     a swarm, its reward, and the verdict"
	@echo "  file://$(CURDIR)/runs/reproduction/report.html   the paper, reproduced"

# Complaints are about files for other versions of Python that some packages carry.
bytecode: setup
	@$(BIN)/python -m compileall -q -j 0 .venv/lib src > /dev/null 2>&1 || true

# Which tests are slow, and why, stands in tests/slow.py. Most of them wait for other programs, so
# that there are more of them at work than cores.
test: setup kernels bytecode
	$(PYTEST) -m "not slow"

test-slow: setup kernels bytecode
	$(PYTEST) -m slow -n $$($(BIN)/python -c "import os; print(3 * os.cpu_count() // 2)")

test-all: test test-slow

# The tests that only build archives, attack or measure say nothing about single lines.
coverage: setup kernels bytecode
	$(PYTEST) --cov --cov-report=term \
		--ignore=tests/test_package.py --ignore=tests/test_tutorials.py --ignore=tests/benchmarks --ignore=tests/studies \
		--deselect=tests/envs/test_black_box.py::test_a_step_of_a_millisecond_costs_a_fifth_more_at_most

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy --num-workers auto

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

# Neither file names a package host. The second holds what the first does, as far as `make run` needs it.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --no-header --group install pyproject.toml

pictures: setup
	$(BIN)/python -m tools.moving_pictures
	$(BIN)/python -m tools.thumbnails

lock:
	PATH="$(CURDIR)/$(BIN):$$PATH" $(COMPILE) --all-extras -o requirements.lock
	PATH="$(CURDIR)/$(BIN):$$PATH" $(COMPILE) -c requirements.lock -o requirements-run.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist docs/_build docs/reference/generated
	rm -rf src/swarmdp/kernels/compiled
	find src studies benchmarks tests -name __pycache__ -type d -exec rm -rf {} +
