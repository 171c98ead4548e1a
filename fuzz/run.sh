#!/usr/bin/env bash
# fuzz/run.sh SECONDS [NAME...]: every fuzz program of build-fuzz first over its corpus, then for so
# many seconds on its own. What it finds lands in build-fuzz/found/; a finding fails the run. The
# corpus of the checkout is never written to.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds="${1:?usage: fuzz/run.sh SECONDS [NAME...]}"
shift
names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
  for source in fuzz/*_fuzz.cc; do
    [[ -f "$source" ]] && names+=("$(basename "$source" _fuzz.cc)")
  done
fi
[[ ${#names[@]} -gt 0 ]] || { echo "fuzz: no fuzz/*_fuzz.cc here" >&2; exit 1; }

mkdir -p build-fuzz/found
passed=0
failed=0
for name in "${names[@]}"; do
  program="build-fuzz/${name}_fuzz"
  corpus="fuzz/corpus/$name"
  work="build-fuzz/corpus-$name"
  log="build-fuzz/found/$name.log"
  mkdir -p "$work"
  # Every seed must exist and pass on its own: a target without seeds tests nothing of the format.
  if [[ ! -d "$corpus" || -z "$(ls -A "$corpus")" ]]; then
    echo "fuzz: $name has no seeds in $corpus" >&2
    failed=$((failed + 1))
    continue
  fi
  if "$program" -runs=0 -timeout=10 -rss_limit_mb=2048 "$corpus" >"$log" 2>&1 &&
     "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
       -artifact_prefix="build-fuzz/found/$name-" "$work" "$corpus" >>"$log" 2>&1; then
    passed=$((passed + 1))
    echo "fuzz: $name: $(find "$corpus" -type f | wc -l) seeds," \
      "$(sed -n 's/.*number_of_executed_units: *//p' "$log") runs in $seconds s, clean"
  else
    failed=$((failed + 1))
    tail -n 40 "$log" >&2
    echo "fuzz: $name FAILED; input and log in build-fuzz/found/" >&2
  fi
done
echo "fuzz: $passed passed, $failed failed"
[[ "$failed" == 0 ]]
