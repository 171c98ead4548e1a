#!/usr/bin/env bash
# fuzz/run.sh SECONDS [NAME...] runs every fuzz program of build-fuzz, first over its corpus, then for SECONDS with new
# inputs. At most one program runs per processor. Findings are written to build-fuzz/found/, and any finding fails the
# run. The corpus of the checkout is never written to.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# one NAME: prints a line with the result of one program. Fails if the program found something.
one() {
  local name="$1" program="build-fuzz/$1_fuzz" corpus="fuzz/corpus/$1" work="build-fuzz/corpus-$1"
  local log="build-fuzz/found/$1.log"
  mkdir -p "$work"
  # Every seed must exist and pass on its own. A target without seeds would test nothing of the format.
  if [[ ! -d "$corpus" || -z "$(ls -A "$corpus")" ]]; then
    echo "fuzz: $name FAILED: no seeds in $corpus" >&2
    return 1
  fi
  if "$program" -runs=0 -timeout=10 -rss_limit_mb=2048 "$corpus" >"$log" 2>&1 &&
     "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
       -artifact_prefix="build-fuzz/found/$name-" "$work" "$corpus" >>"$log" 2>&1; then
    echo "fuzz: $name: $(find "$corpus" -type f | wc -l) seeds," \
      "$(sed -n 's/.*number_of_executed_units: *//p' "$log") runs in $seconds s, clean"
    return 0
  fi
  { tail -n 40 "$log"; echo "fuzz: $name FAILED; input and log in build-fuzz/found/"; } >&2
  return 1
}

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
rm -f build-fuzz/found/*.passed
for name in "${names[@]}"; do
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
  { one "$name" && touch "build-fuzz/found/$name.passed"; } &
done
wait
passed="$(find build-fuzz/found -name '*.passed' | wc -l)"
failed=$((${#names[@]} - passed))
echo "fuzz: $passed passed, $failed failed"
[[ "$failed" == 0 ]]
