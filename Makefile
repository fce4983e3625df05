# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Each makes .venv first; nothing outside this directory is changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test test-heavy check bench conformance venv lock clean help

help:
	@echo "make demo    the gate on a real change, end to end (about a minute)"
	@echo "make test    the test suite"
	@echo "make test-heavy   more cases of the kinds that it judges, which it deselects"
	@echo "make check   format, lint, types, architecture (fast)"
	@echo "make bench   measurements, printed beside their bars"
	@echo "make conformance   SQLite's whole test corpus, counts beside the C runner's (CORPUS=DIR)"
	@echo "make lock    pin the development environment anew"

venv: $(STAMP)

# The lock pins versions for the Python it was made on; another Python resolves from pyproject.toml.
$(STAMP): pyproject.toml requirements-dev.lock
	@command -v $(PYTHON) >/dev/null || { echo "needs Python 3.11 or newer: set PYTHON=..."; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "needs Python 3.11 or newer, found $$($(PYTHON) -V): set PYTHON=..."; exit 2; }
	@echo "setting up $(VENV) (once, about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check \
		-c requirements-dev.lock -e '.[dev]'
	@$(BIN)/python -m compileall -q refute  # workers may not write: what they import is compiled here
	@touch $@

demo: $(STAMP)
	@$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist loadfile

test-heavy: $(STAMP)
	$(BIN)/python -m pytest -n auto --dist load -m heavy

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

bench: $(STAMP)
	$(BIN)/python -m benchmarks

conformance: $(STAMP)
	$(BIN)/python benchmarks/conformance.py $(if $(CORPUS),--corpus $(CORPUS))

lock: $(STAMP)
	$(BIN)/python -m pip freeze --exclude-editable > requirements-dev.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
