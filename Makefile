.PHONY: demo test lowest check lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; assert (3, 11) <= sys.version_info < (3, 14), "Covey needs Python 3.11 to 3.13, this is %d.%d; name another one: make PYTHON=python3.11 ..." % sys.version_info[:2]'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/covey run maze

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

# the oldest versions that pyproject.toml allows: they are installed, and what users do first is tried
lowest:
	rm -rf .lowest && $(PYTHON) -m venv .lowest
	$(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' \
		| sed "s/>=/==/; s/,<.*//" > .lowest/requirements.txt
	.lowest/bin/pip install --quiet --disable-pip-version-check -r .lowest/requirements.txt pytest hypothesis
	.lowest/bin/pip install --quiet --disable-pip-version-check --no-deps --editable .
	.lowest/bin/python -m pytest -W default tests/test_covey.py tests/test_kernel.py tests/scenario \
		tests/sim/test_simulation.py tests/results/test_run.py tests/results/test_metrics.py tests/results/test_figures.py

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

lock:
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/pip install --quiet --upgrade "pip>=25.1"
	.lock/bin/pip install --quiet . --group dev
	.lock/bin/pip freeze --exclude covey | grep -v "^pip==" > requirements.lock
	rm -rf .lock

clean:
	rm -rf $(VENV) .lowest build dist src/*.egg-info
