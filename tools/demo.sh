#!/usr/bin/env bash
# Shows the main job without an API key. The built-in expert writes, tunes and proves kernels for a plain task and for a
# fused one, in under two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for task in tasks/other/48_cumsum_reverse.py tasks/fused/55_matmul_scale_residual_layernorm.py; do
  echo
  echo "demo: build/pragma optimize $task --attempts 3 --time 20s"
  build/pragma optimize "$task" --attempts 3 --time 20s
done
echo
echo "demo: every attempt is kept; build/pragma report last --html run.html draws the last run"
