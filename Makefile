# make run    set up, start the daemon on the sample household (papers and home), print where to ask
# make test   the same set-up, then the tests
# make home-assistant  a newer Home Assistant (needs Python 3.13), and the tests that need it
# make arm    tests of the kernels on ARM, emulated: Debian, as root, an hour
# make soak   the faults of tests/faults in their long forms, then 5 000 questions and commands: hours
# make venv   the Python set-up alone, into .venv; with HASHES=1 from hashes.txt alone
# make lock   write hashes.txt anew, from constraints.txt
# make sbom   what hubd is made of, as CycloneDX: build/sbom.json
# make audit  known vulnerabilities of these packages

PYTHON ?= python3
BIN := .venv/bin
TRY := What does error code E04 on the oven mean?
export HF_HUB_OFFLINE ?= 1
export HUBD_REQUIRE_HASHES := $(HASHES)
# As the daemon sets it (hubd/commands/serve.py): two processes of tests share two cores.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: arm lock sbom audit run test home-assistant venv lint format clean soak

run: venv
	@$(BIN)/hubd model pull
	@exec $(BIN)/hubd serve --ingest samples/household --home samples/home.yaml --try "$(TRY)"

test: venv
	@$(BIN)/hubd model pull
	$(BIN)/pytest -n 2 --dist loadfile $(PYTEST_ARGS)

home-assistant: venv
	$(BIN)/python tests/e2e/home_assistant/set_up.py 2025.4.4
	@$(BIN)/hubd model pull
	$(BIN)/pytest -m newer_home_assistant tests/e2e/home_assistant $(PYTEST_ARGS)

venv: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) .ci/set_up.py

arm: venv
	@$(BIN)/hubd model pull
	.ci/arm.sh pi5
	.ci/arm.sh pi4

soak: venv
	HUBD_TEST_SOAK=1 $(BIN)/pytest tests/faults $(PYTEST_ARGS)
	$(BIN)/python -m bench.soak

lock: venv
	@$(BIN)/python .ci/lock.py

sbom audit: venv
	@$(BIN)/python .ci/supply_chain.py $@

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: venv
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +
