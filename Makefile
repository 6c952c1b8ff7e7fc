.PHONY: demo test check lock clean

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
	rm -rf $(VENV) build dist src/*.egg-info
