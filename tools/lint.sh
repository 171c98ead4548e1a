#!/usr/bin/env bash
# tools/lint.sh [FOLDER...] compiles every header of src/ alone. Then it builds with clang 19, and clang-tidy 19 checks
# each file that is compiled (only those that changed since the last time). FOLDER (base, core, ...) limits it. Without
# a folder it also includes the format check, the modules of the report, Python and fuzz/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folders=(src)
targets=(all)
if [[ $# -gt 0 ]]; then
  folders=("${@/#/src/}")
  targets=()
  for name in "$@"; do
    targets+=("pragma_$name")
    compgen -G "src/$name/*_test.cc" >/dev/null && targets+=("${name}_test")
  done
fi
failed=0

if [[ $# -eq 0 ]]; then
  echo "lint: format"
  tools/format.sh check || failed=1
  echo "lint: JavaScript"
  tools/check_scripts.py || failed=1
  echo "lint: Python"
  tools/lint_python.sh || failed=1
fi

mapfile -t headers < <(find "${folders[@]}" -name '*.h' -not -path '*/golden/*' | sort)
echo "lint: ${#headers[@]} headers, each alone"
printf '%s\n' "${headers[@]}" | xargs -r -P "$(nproc)" -I{} \
  g++ -std=c++23 -fsyntax-only -x c++ -include /dev/null -Isrc -I. -Wall {} || failed=1

echo "lint: clang-tidy (${targets[*]})"
BUILD_FLAGS="-k 0" tools/setup.sh build lint "${targets[@]}" || failed=1

[[ "$failed" == 0 ]] && echo "lint: clean"
exit "$failed"
