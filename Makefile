# One short command per task; `make` lists them. Whatever is more than one command is a script, so that Windows,
# hooks and CI run the same: .ci/run, spec/*.py, the hooks of .pre-commit-config.yaml.
# The tools are those of the active environment, which `make setup` makes: . .venv/bin/activate

.DEFAULT_GOAL := help
.PHONY: help setup train explain test heavy long lint types check prose tables site bench gpu peer mutants ci

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## an environment in .venv with the package (editable), the tests' tools and the hooks
	python3 -m venv .venv
	.venv/bin/pip install -e ".[test,lint]"
	.venv/bin/pre-commit install

train:  ## train LeNet on handwritten digits, on two logical devices
	refimpl train

explain:  ## one page, step.html, that shows a training step from inside
	refimpl explain

test:  ## the tests that every change must pass (11 minutes of processor time)
	pytest -n auto

heavy:  ## many draws and many compilations (10 more)
	pytest -n auto -m heavy

long:  ## searches that take minutes each; seeds come from REFIMPL_*_SEED
	pytest -m long

lint:  ## style and spelling
	ruff check .
	codespell

types:  ## mypy over refimpl/ and kernels/
	mypy

check:  ## all hooks on all files: lint, types, clauses
	pre-commit run --all-files

prose:  ## run every Python block of the chapters; are the generated files fresh?
	python spec/trace.py --check
	python spec/rules.py --check
	python spec/ops.py --check
	python spec/stubs.py --check
	python spec/schemas.py --check
	python spec/picture.py --check
	python spec/figures.py --check
	python spec/course_pictures.py --check

tables:  ## write the generated files anew
	python spec/rules.py
	python spec/stubs.py
	python spec/schemas.py
	python spec/picture.py
	python spec/figures.py
	python spec/course_pictures.py

site:  ## chapters, operators, API, code and notebooks for a browser, in build/site (needs the extra `docs`)
	python spec/site/build.py

bench:  ## time networks, operators and graphs, here and in other libraries (python -m tests.bench --help)
	python -m tests.bench

gpu:  ## the tests that need a CUDA device, and its times: pip install -e ".[cuda]"
	pytest -m gpu
	python -m tests.bench --gpu

peer:  ## compare with MXNet 1.9.1 and PyTorch, each in an environment of its own
	pytest -m peer

mutants:  ## break the code behind 100 clauses and run their tests
	bash .ci/run mutants

ci:  ## all that the hosted workflow runs on one machine
	bash .ci/run
