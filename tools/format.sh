#!/usr/bin/env bash
# tools/format.sh check|fix runs clang-format 19 on every C, C++ and JavaScript file of the project itself.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode="${1:-check}"
mapfile -t files < <(git ls-files --cached --others --exclude-standard -- 'src/*.h' 'src/*.cc' \
  'worker/*.h' 'worker/*.c' 'worker/*.cc' 'fuzz/*.cc' 'bench/*.cc' 'bench/*.h' \
  'tests/*.cc' 'tests/*.h' 'report/*.js' ':!:*/golden/*' |
  while read -r file; do [[ -f "$file" ]] && echo "$file"; done)
case "$mode" in
  check) clang-format-19 --dry-run --Werror "${files[@]}" ;;
  fix) clang-format-19 -i "${files[@]}" ;;
  *) echo "usage: tools/format.sh check|fix" >&2; exit 2 ;;
esac
echo "format: ${#files[@]} files"
