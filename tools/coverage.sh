#!/usr/bin/env bash
# Runs the C++ tests of build-coverage and prints line coverage per file of src/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find build-coverage -name '*.gcda' -delete
.venv/bin/python tools/run_tests.py --build build-coverage --only ctest
gcovr --root . --filter 'src/' --exclude '.*_test\.cc' --exclude-throw-branches \
  --html-details build-coverage/coverage.html --print-summary build-coverage
