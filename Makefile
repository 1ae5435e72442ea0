# Golem: one command for everything. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
# Processes that share the test suite, each with servers of its own: one more than the cores of the build machine, because
# a test waits for its servers a third of its time.
WORKERS ?= 3
PY := .venv/bin/python
# Run apart from the product's environment: what it brings along is nobody's dependency.
PIP_AUDIT := pip-audit==2.10.1
SUPERVISOR := $(PY) -m golem_project.embedded.supervisor
# Runs before anything is installed. -I: neither the folder of the script nor the user's packages get in.
# Without a choice of yours (make PYTHON=...) it goes on under the distribution's Python where there is one.
BOOTSTRAP := $(PYTHON) -I golem_project/embedded/bootstrap.py$(if $(filter file,$(origin PYTHON)),, --this-python)
RESET := $(PYTHON) -I golem_project/embedded/reset.py

# Python keeps what it compiles, also where the environment forbids to write it beside the sources.
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/var/cache/python
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help python setup ready run demo test test-all test-fast check bench proof audit lock updates packages docs clean reset

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name text; do printf '  make %-9s %s\n' "$$name" "$$text"; done

python:
	@command -v "$(PYTHON)" >/dev/null || { echo "golem: $(PYTHON) is not installed. Fix: apt-get install python3 python3-venv (3.11 or newer)" >&2; exit 1; }

setup: python ## make .venv, install the locked packages, build the local world, compile what the tests need
	@$(BOOTSTRAP) --protocols

# What the product itself needs, and nothing that only tests do: its first start is no longer for them.
ready: python
	@$(BOOTSTRAP)

run: ready ## start everything, perform the demo swap, serve until Ctrl-C
	@exec $(SUPERVISOR) run

demo: ready ## the main job, headless, on throw-away servers; writes var/demo.json
	@exec $(SUPERVISOR) demo

test: python ## what changed whole, and a drawn part of the expensive tests (ARGS='-k swap', WORKERS=0 for one process)
	@$(BOOTSTRAP) --browser
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --draw $(ARGS)

test-all: python ## every test; when it was green, make test compares with this commit
	@$(BOOTSTRAP) --browser
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-fast: python ## the tests without chain, browser, commits and processes, for the loop of a day
	@$(BOOTSTRAP) --protocols
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'not slow' $(ARGS)

bench: setup ## measure what the project promises; writes var/bench.json (ONLY=id for one, BESIDE=commit for both)
	@$(if $(BESIDE),$(PY) -m tests.bench.beside $(BESIDE),$(SUPERVISOR) exec $(PY) -m tests.bench) $(if $(ONLY),--only $(ONLY))

proof: setup ## the long proofs, resumable; writes var/proof.json (ONLY=heists, ONLY='heists|safety')
	@$(SUPERVISOR) exec $(PY) -m tests.proof $(if $(ONLY),--only '$(ONLY)')

# $(call step,what is checked,command,how to fix it)
define step
@printf 'check: %-36s' '$(1)'; begun=$$(date +%s%N); output=$$($(2) 2>&1) && printf 'ok (%d ms)\n' $$((($$(date +%s%N) - begun) / 1000000)) || { printf 'FAILED\n%s\ncheck: %s failed. Fix: %s\n' "$$output" '$(1)' '$(3)' >&2; exit 1; }
endef

check: setup ## format, lint, types, import contracts, migrations, snapshots
	$(call step,format,$(PY) -m ruff format --check .,$(PY) -m ruff format .)
	$(call step,lint,$(PY) -m ruff check .,$(PY) -m ruff check --fix . and mend the rest by hand)
	$(call step,types,$(PY) -m mypy .,mend the lines above)
	$(call step,import contracts,.venv/bin/lint-imports,let the import point downwards - see pyproject.toml)
	$(call step,Django system checks,$(PY) manage.py check --fail-level WARNING,mend what is named above)
	$(call step,migrations are complete,$(PY) manage.py makemigrations --check --dry-run,$(PY) manage.py makemigrations)
	$(call step,OpenAPI schema is valid,$(PY) manage.py spectacular --validate --fail-on-warn --file /dev/null,describe the view with extend_schema)
	$(call step,OpenAPI and manifest snapshots,$(PY) manage.py snapshots --check,$(PY) manage.py snapshots and review the difference)

audit: setup ## ask for known vulnerabilities of every package; one that nothing is known of fails too
	@$(PY) -m uv tool run --from $(PIP_AUDIT) pip-audit --strict --disable-pip --no-deps -r requirements.txt -r constraints.txt
	@for client in clients/*/package-lock.json golem_project/embedded/sdk/package-lock.json; do echo "$$client"; npm audit --prefix "$$(dirname "$$client")" --package-lock-only; done

lock: setup ## write packages.lock, the hashes of what requirements.txt and constraints.txt name; refuses the youngest
	@$(PY) -m golem_project.embedded.lock_packages
	@$(PY) -m tests.proof.analysed.locking

updates: setup ## packages of which there is a newer version than the locked one, published at least 7 days ago
	@$(PY) -m uv pip list --outdated --exclude-newer '7 days' --python $(PY)

packages: setup ## build what pip and npm install of the clients into var/packages
	@$(PY) manage.py client_packages

docs: setup ## write docs/ as static pages to var/docs (FOLDER=elsewhere)
	@$(PY) manage.py docs_pages $(FOLDER)

clean: python ## remove what set-up made
	@$(RESET) clean

reset: python ## wipe the data under var/, keeping wallets (KEYS=1: also those used on local chains only)
	@$(RESET) reset $(if $(filter 1,$(KEYS)),--keys)
