#!/usr/bin/env bash
# Compares what the built-in expert writes before and after a change: every kernel of every described
# task, in C++ for several processors and in Triton, in many variants, with the choices that each
# leaves open (pragma-expert-source --all). Nothing is built or timed.
#
#   tools/expert_texts.sh keep PROGRAM KEPT DESCRIPTION.json...      before: writes all texts to KEPT
#   tools/expert_texts.sh compare PROGRAM KEPT DESCRIPTION.json...   after: the texts must be the same
#
# PROGRAM is build/pragma-expert-source. A description is the "task" of the PyTorch server's reply.
# The exit status of compare is 0 where all texts are the same. Otherwise it is 1, the tasks that
# differ are named, and the new texts are kept in KEPT.new.
set -euo pipefail

die() { printf 'expert_texts: %s\n' "$*" >&2; exit 2; }

[[ $# -ge 4 ]] || die "usage: expert_texts.sh keep|compare PROGRAM KEPT DESCRIPTION.json..."
mode=$1 program=$2 kept=$3
shift 3
case "$mode" in
  keep) to=$kept ;;
  compare) to=$kept.new ;;
  *) die "no such mode: $mode (keep, compare)" ;;
esac
rm -rf "$to"
mkdir -p "$to"
# The first argument is a Python, which descriptions do not need.
"$program" python3 "$to" --all "$@" | sort > "$to/outcomes"
[[ $mode == compare ]] || exit 0
if diff -rq "$kept" "$to"; then
  printf 'the same: %d descriptions, %d texts\n' $# "$(cat "$to"/*.txt | grep -c '^==== ')"
  rm -rf "$to"
else
  exit 1
fi
