# What people do with a checkout. Needs Python 3.11 with pip, make and git; `make PYTHON=...` names another one.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The question goes through the environment, unexpanded, so that no shell and no make reads it.
unexport Q
export QUESTION := $(value Q)

# What pytest makes of each test module is kept, for its other processes and the next run; `make clean` removes it.
unexport PYTHONDONTWRITEBYTECODE

# All tests that need nothing but this environment.
HERE := not wheel and not llm and not browser and not npm and not ray and not adapters and not cluster

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help ask test test-adapters test-browser test-cluster test-llm test-programs test-ray test-slow test-types check check-deploy format lock model bench bench-grounding bench-scale docs dist clean

help:  ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

ask: $(VENV)/.runtime  ## Answer Q="..." from this folder
	@[ -n "$$QUESTION" ] || { echo 'usage: make ask Q="How is a document split into chunks?"' >&2; exit 2; }
	@$(BIN)/openbook ask -- "$$QUESTION" .
	@[ ! -t 2 ] || printf '\nnext: %s ask "..." PATH\n' "$(CURDIR)/$(BIN)/openbook" >&2

test: $(VENV)/.dev  ## Run the tests, without those that take more than half a second each
	@$(BIN)/python -m pytest -q -n auto

test-browser: $(VENV)/.dev  ## Test the page in a real Chromium; pictures go to build/screenshots/ (docs/page.md)
	@SCREENSHOTS=build/screenshots $(BIN)/python -m pytest -q -n 2 -m browser tests/web

test-cluster: $(VENV)/.dev  ## Test two servers behind nginx with a Redis, and kill each of them (docs/server.md)
	@$(BIN)/python -m pytest -q -s -m cluster tests/cluster

test-llm: $(VENV)/.dev $(VENV)-llm/.llm  ## Test with a real, tiny model on this machine (docs/local-model.md)
	@$(BIN)/python -m pytest -q -m llm tests/llm

test-adapters: $(VENV)/.dev $(VENV)-adapters/.adapters  ## Test examples/adapters with LangChain, LlamaIndex and pydantic-ai
	@$(BIN)/python -m pytest -q -m adapters tests/adapters

test-programs: $(VENV)/.dev $(VENV)-programs/.programs  ## Test claude, codex, gemini, opencode (npm, 1 GB) and llm with a stand-in for their model
	@$(BIN)/python -m pytest -q -m npm tests/integration/test_cli_programs.py tests/integration/test_mcp_agents.py

test-types: $(VENV)/.dev  ## Check the Python of the pages and examples/programs with mypy and pyright (from npm)
	@$(BIN)/python -m pytest -q -m "npm or not npm" tests/docs/test_types_of_programs.py

test-ray: $(VENV)/.dev  ## Test with a real Ray cluster of two processors on this machine (docs/scale.md)
	@$(BIN)/python -m pytest -q -m ray tests/ray

test-slow: $(VENV)/.dev  ## Run the others: processes, servers, kills at many moments, full disks
	@$(BIN)/python -m pytest -q -n auto -m "slow and $(HERE)"

check: $(VENV)/.dev  ## Check format, lint, types, imports, spelling, citations and all tests with their coverage
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/codespell
	@$(BIN)/openbook verify README.md AGENTS.md CHANGELOG.md CONTRIBUTING.md docs/*.md docs/tutorials/*.md tools/README.md
	@PYTHONHASHSEED=0 PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest -q -n auto -m "$(HERE)" --cov --cov-report=term

check-deploy: $(VENV)-deploy/.deploy  ## Check deploy/ with Helm, the schemas of Kubernetes, promtool and nginx
	@$(VENV)-deploy/bin/python -m tools.check_deploy

format: $(VENV)/.dev  ## Format the code and repair what lint can
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-emit-index-url --system-certs \
	--custom-compile-command "make lock" --output-file
# With extras, or pip looks for the newest version of each package that is needed with one, which has no hash here.
HASHES = --generate-hashes --no-strip-extras
SAME = --constraint requirements/runtime.txt

lock: $(VENV)/.dev  ## Pin the newest versions in requirements/
	@$(LOCK) requirements/runtime.txt $(HASHES) pyproject.toml
	@$(LOCK) requirements/build.txt $(HASHES) $(SAME) --group build
	@$(LOCK) requirements/dev.txt $(HASHES) $(SAME) --group dev pyproject.toml
	@$(LOCK) requirements/installer.txt $(HASHES) --constraint requirements/dev.txt --group installer
	@$(LOCK) requirements/server.txt $(HASHES) --constraint requirements/dev.txt \
		--extra server --extra anthropic --extra openai pyproject.toml
	@$(LOCK) requirements/cluster.txt $(HASHES) --constraint requirements/dev.txt --extra server --extra anthropic \
		--extra openai --extra redis --extra lance --extra ray --extra oidc pyproject.toml
	@$(LOCK) requirements/docs.txt $(HASHES) --group docs
	@$(LOCK) tools/requirements.txt --group model
	@$(LOCK) requirements/adapters.txt $(HASHES) --group adapters pyproject.toml
	@$(LOCK) requirements/programs.txt $(HASHES) --group programs
	@$(LOCK) requirements/deploy.txt $(HASHES) --group deploy
	@$(LOCK) requirements/llm.txt $(HASHES) --no-deps --group llm

model: $(VENV)-model/.model  ## Make the embedding model again from WORK=, NEVER_TRAIN= and KEEP_AWAY=... (tools/README.md)
	@[ -n "$(WORK)" ] && [ -n "$(NEVER_TRAIN)" ] || \
		{ echo 'usage: make model WORK=FOLDER NEVER_TRAIN=NAMES KEEP_AWAY="PATH ..."' >&2; exit 2; }
	@$(VENV)-model/bin/python -m tools.static_model --work "$(WORK)" --never-train "$(NEVER_TRAIN)" --keep-away $(KEEP_AWAY)

bench: $(VENV)/.dev  ## Measure quality and speed on the data in DATA=..., and write docs/benchmarks.md
	@$(BIN)/python -m benchmarks all --data "$(DATA)" $(if $(CHECKOUTS),--checkouts "$(CHECKOUTS)") $(if $(LARGE),--large)

bench-grounding: $(VENV)/.dev  ## Measure how well citations are checked on the data in DATA=..., and write docs/benchmarks-citations.md
	@$(BIN)/python -m benchmarks.grounding --data "$(DATA)" --write

bench-scale: $(VENV)/.dev  ## Measure how libraries grow, on the text in FOLDER=... (LARGE=yes: a million chunks), into docs/benchmarks-libraries.md
	@$(BIN)/python -m benchmarks.scale "$(FOLDER)" --write $(if $(LARGE),--large) $(if $(S3),--s3 $(S3)) $(if $(S3_CHUNKS),--s3-chunks $(S3_CHUNKS)) $(if $(KEEP),--keep $(KEEP)) $(if $(UNDER),--under "$(UNDER)")

# Not with --quiet, under which --strict counts no warning.
docs: $(VENV)-docs/.docs  ## Build the documentation as a site into build/site/
	@NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict

dist: $(VENV)/.runtime  ## Build the wheel and the sdist into dist/
	@rm -rf dist && $(BIN)/python -m hatchling build

clean:  ## Remove all that is made here, environments included
	@rm -rf $(VENV) $(VENV)-adapters $(VENV)-deploy $(VENV)-docs $(VENV)-llm $(VENV)-model $(VENV)-programs build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# $(call install,ENVIRONMENT,WHAT). Debian's Python cannot put pip into an environment, so the pip that
# is there installs into it from outside; if an environment is active, that is the pip behind it.
define install
	@host=$$($(PYTHON) -c 'import sys; print(getattr(sys, "_base_executable", sys.executable))') && \
	"$$host" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: Python 3.11 or newer is needed; name it: make PYTHON=/path/to/python" >&2; exit 1; }; \
	"$$host" -c 'import pip' 2>/dev/null || \
		{ echo "error: $$host has no pip; on Debian: apt install python3-pip" >&2; exit 1; }; \
	pip() { "$$host" -m pip --python $(1)/bin/python --disable-pip-version-check --no-input -qq "$$@"; }; \
	quickly() { $(UV) --python $(1)/bin/python "$$@" || \
		{ echo "uv could not install them; pip does ..." >&2 && pip install --require-hashes "$$@"; }; }; \
	echo "installing into $(1) ..." >&2; \
	{ [ -x $(1)/bin/python ] || "$$host" -m venv --without-pip $(1); } && $(2)
	@touch $@
endef
EDITABLE = pip install --no-deps --no-build-isolation --editable . && \
	$(BIN)/python -m compileall -q src  # where writing bytecode is forbidden, help takes 0.20 s instead of 0.08 s

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml
	$(call install,$(VENV),pip install --require-hashes -r requirements/runtime.txt -r requirements/build.txt && $(EDITABLE))

# uv takes a sixth of the time of pip, and knows of its settings only what is named here. Where it does not reach
# the packages, pip installs them.
UV = UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$PIP_INDEX_URL}" UV_FIND_LINKS="$${UV_FIND_LINKS:-$$PIP_FIND_LINKS}" \
	$(BIN)/uv pip install --quiet --system-certs --compile-bytecode --require-hashes

$(VENV)/.dev: requirements/dev.txt requirements/installer.txt pyproject.toml
	$(call install,$(VENV),pip install --require-hashes -r requirements/installer.txt && \
		quickly -r requirements/dev.txt && $(EDITABLE))
	@touch $(VENV)/.runtime

$(VENV)-docs/.docs: requirements/docs.txt
	$(call install,$(VENV)-docs,pip install --require-hashes -r requirements/docs.txt)

$(VENV)-deploy/.deploy: requirements/deploy.txt
	$(call install,$(VENV)-deploy,pip install --require-hashes -r requirements/deploy.txt)

$(VENV)-adapters/.adapters: $(VENV)/.dev requirements/adapters.txt requirements/build.txt pyproject.toml
	$(call install,$(VENV)-adapters,quickly -r requirements/adapters.txt -r requirements/build.txt && \
		pip install --no-deps --no-build-isolation --editable .)

$(VENV)-programs/.programs: requirements/programs.txt
	$(call install,$(VENV)-programs,pip install --require-hashes -r requirements/programs.txt)

$(VENV)-llm/.llm: $(VENV)/.dev requirements/llm.txt
	$(call install,$(VENV)-llm,quickly --no-deps -r requirements/llm.txt)

# Without hashes: which build of torch suits a machine is the machine's affair. The script checks the
# SHA-256 of what goes in and of what comes out.
$(VENV)-model/.model: tools/requirements.txt pyproject.toml
	$(call install,$(VENV)-model,"$$host" -c "$$LIST_MODEL_GROUP" | pip install -c tools/requirements.txt -r /dev/stdin)

export LIST_MODEL_GROUP := import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["model"], sep="\n")
