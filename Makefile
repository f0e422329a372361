# Each target sets up .venv by itself; with everything in place that takes no time.
PYTHON ?= python3
RUN := .venv/bin
# A network that intercepts TLS: whoever tells this shell's programs of its authority tells the machines too.
export ARGUSIC_EXTRA_CA ?= $(SSL_CERT_FILE)

.PHONY: demo test soak lint bench clean
.DELETE_ON_ERROR:

# AGENT=codex (or pi, claude): a real program takes part, with a model that a script plays.
demo: .venv/ready
	@$(RUN)/argusic demo $(if $(AGENT),--agent $(AGENT))

test: lint
	@$(RUN)/python -m pytest -n 2 -m "not soak"

soak: .venv/ready
	@$(RUN)/python -m pytest -m soak

lint: .venv/ready
	@$(RUN)/ruff format --check --quiet .
	@$(RUN)/ruff check --quiet .
	@$(RUN)/mypy
	@$(RUN)/lint-imports --no-logo

bench: .venv/ready
	@$(RUN)/python -m benchmarks

clean:
	rm -rf .venv build .argusic

.venv/ready: constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed") if sys.version_info < (3, 11) else None'
	@echo "setting up .venv (once)"
	@$(PYTHON) -m venv --clear .venv
	@$(RUN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r constraints.txt
	@$(RUN)/python -c 'import pathlib, sysconfig; pathlib.Path(sysconfig.get_paths()["purelib"], "argusic.pth").write_text("$(CURDIR)\n")'
	@printf '#!%s/$(RUN)/python\nimport sys\nfrom argusic import main\nsys.exit(main())\n' "$(CURDIR)" > $(RUN)/argusic
	@chmod +x $(RUN)/argusic
	@touch $@
