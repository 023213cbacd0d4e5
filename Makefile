# run: the main job on REPO or the sample     test: everything     test-long: the journeys in both editors, and the Python tests at their full counts     test-agents: with the real command-line agents     lint, fix: style and types     docs: docs/CLI.md and agents/     protocol: its TypeScript     package: the .vsix     bench: the budgets
# eval: measures on labelled data, with options in ARGS="…"     train: the ranker, from the labels in evals/ranker     smoke-model: a whole sync with a real model on this machine (1.1 GB once, many minutes)
# Needs Python 3.11+, Node 20+, git and make; the rest is fetched by pip, npm and (for the journeys, as root on Debian) apt.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
ENCODING := server/lerim/models/o200k/fb374d419588a4632f3f557e76b4b70aebbca790
SOURCES := package.json scripts/package.mjs pyproject.toml requirements.lock README.md CHANGELOG.md LICENSE .vscodeignore \
           $(shell find extension server/lerim agents -type f -not -path '*/dist/*' -not -name '*.pyc' 2>/dev/null)

help:
	@sed -n '1,3s/^# //p' Makefile

run: .venv/made-from $(ENCODING) lerim.vsix
	@REPO="$(REPO)" $(BIN)/python scripts/run.py

test: .venv/made-from $(ENCODING) node_modules/.package-lock.json tests/journeys/node_modules/.package-lock.json
	@$(BIN)/python scripts/test.py

test-agents: .venv/made-from $(ENCODING)
	@folder=$$($(BIN)/python scripts/install_agents.py) && LERIM_TEST_AGENTS="$$folder" $(BIN)/python -m pytest tests/real_agents

test-long: .venv/made-from $(ENCODING) node_modules/.package-lock.json tests/journeys/node_modules/.package-lock.json
	@LERIM_LONG=40 $(BIN)/python scripts/test.py journeys
	@LERIM_LONG=40 $(BIN)/python -m pytest -n 2 --dist worksteal -o timeout=21600

lint: .venv/made-from node_modules/.package-lock.json
	@$(BIN)/python scripts/test.py lint

docs: .venv/made-from
	@$(BIN)/python scripts/cli_docs.py
	@$(BIN)/python scripts/agent_plugin.py

fix: .venv/made-from node_modules/.package-lock.json
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	npx eslint --fix extension tests/extension

protocol: .venv/made-from node_modules/.package-lock.json
	@$(BIN)/python scripts/protocol.py

package: lerim.vsix

smoke-model: .venv/made-from $(ENCODING)
	@$(BIN)/python scripts/smoke_test_model.py

bench: .venv/made-from $(ENCODING) lerim.vsix
	@$(BIN)/python scripts/bench.py

eval: .venv/made-from $(ENCODING)
	@PYTHONPATH=evals $(BIN)/python -m lerim_evals $(ARGS)

train: build/train/made-from
	@PYTHONPATH=server build/train/bin/python evals/ranker/train.py

build/train/made-from: requirements.lock requirements-train.lock
	@$(PYTHON) scripts/make_environment.py build/train requirements.lock requirements-train.lock

.venv/made-from: requirements-serve.lock requirements-org.lock requirements-dev.lock pyproject.toml
	@$(PYTHON) scripts/make_environment.py .venv requirements-serve.lock requirements-org.lock requirements-dev.lock --own

$(ENCODING): scripts/fetch_encoding.py | .venv/made-from
	@$(BIN)/python scripts/fetch_encoding.py

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

tests/journeys/node_modules/.package-lock.json: tests/journeys/package.json tests/journeys/package-lock.json
	npm ci --prefix tests/journeys --no-audit --no-fund --loglevel=error
	@touch $@

lerim.vsix: node_modules/.package-lock.json $(ENCODING) $(wildcard $(SOURCES))
	@npm run --silent package >/dev/null
	@echo "built $@"

.PHONY: help run test test-long lint docs fix protocol package bench smoke-model eval train
