#!/bin/sh
# Makes .venv-litellm (the LiteLLM proxy, for tests/llm only). Quick when it is already there.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
venv="$root/.venv-litellm"
pins="$root/tests/llm/litellm-requirements.txt"
stamp_name=$(sha256sum "$pins" | cut -c1-16)
stamp="$venv/.installed-$stamp_name"
[ -e "$stamp" ] && exit 0
python=$(command -v python3.11 || command -v python3) || {
  echo "setup_litellm: python3 is missing: apt-get install python3 python3-venv" >&2
  exit 1
}
rm -rf "$venv"
"$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$pins"
touch "$stamp"
