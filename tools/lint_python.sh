#!/usr/bin/env bash
# Checks the project's Python with ruff and mypy (pyproject.toml). mypy looks at each folder of scripts by itself,
# because scripts of two folders may have the same name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh lint-venv
bin="$PWD/.venv-lint/bin"
failed=0

"$bin/ruff" check --quiet python tests tools bench || failed=1

# check FOLDER WHAT...: runs mypy in the folder. Other folders that its scripts take modules from are in `from`.
check() {
  local folder="$1" from="$PWD/python:$PWD/bench:$PWD/tests/e2e"
  shift
  echo "lint: mypy $folder"
  (cd "$folder" && MYPYPATH="$from" "$bin/mypy" --cache-dir "$OLDPWD/.mypy_cache" --config-file "$OLDPWD/pyproject.toml" --no-error-summary "$@") || failed=1
}

check python -p pragma_candidate -p pragma_export -p pragma_torch -p pragma_triton
check python pragma_embed.py
for folder in bench tools python/tests tests/diagnosis tests/e2e tests/expert tests/gpu tests/gpu/diagnosis tests/knowledge tests/layers \
    tests/llm tests/red_team tests/report; do
  (cd "$folder" && compgen -G "*.py" >/dev/null) || continue
  mapfile -t scripts < <(cd "$folder" && ls ./*.py)
  check "$folder" "${scripts[@]}"
done
exit "$failed"
