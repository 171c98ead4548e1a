#!/usr/bin/env bash
# The main job on a real task, without a key: replays a recorded conversation with a language model,
# building, checking and timing every proposed kernel on this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

recording="$(find recordings -maxdepth 1 -name '*.jsonl' 2>/dev/null | sort | head -n 1)"
if [[ -z "$recording" ]]; then
  echo "demo: no recording in recordings/: this checkout is incomplete" >&2
  exit 1
fi
echo "demo: build/pragma replay $recording --remeasure"
exec build/pragma replay "$recording" --remeasure
