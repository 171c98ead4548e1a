#!/usr/bin/env bash
# Prepares this checkout: Debian packages, the virtual environment, a build. Each step checks first and does nothing if
# there is nothing to do.
#
#   tools/setup.sh packages GROUP...   GROUP: build test lint fuzz coverage portable
#   tools/setup.sh venv [FOLDER]      default .venv
#   tools/setup.sh litellm            for the tests of model protocols
#   tools/setup.sh lint-venv          ruff and mypy
#   tools/setup.sh build PRESET [TARGET...]
#
# Run as root, it installs missing packages. Otherwise it prints one line with the packages and the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# These are Debian 12 names. Ubuntu 24.04 has all of them under the same names (its universe section must be enabled).
# The list was compared, but an installation on Ubuntu was not tried.
packages_of() {
  case "$1" in
    build) echo g++ cmake ninja-build ccache mold pkg-config libfmt-dev nlohmann-json3-dev libsimdjson-dev \
                libssl-dev libsqlite3-dev libcurl4-openssl-dev libseccomp-dev libtomlplusplus-dev \
                libcli11-dev libkainjow-mustache-dev libmuparser-dev libtidy-dev zlib1g-dev node-d3 node-diff libgtest-dev libgmock-dev bubblewrap python3 python3-dev python3-venv \
                ca-certificates ;;
    test) echo clang-19 libomp-19-dev libclang-rt-19-dev clang-format-19 valgrind llvm-19 linux-perf manpages-dev chromium chromium-driver ;;
    lint) echo clang-19 clang-tidy-19 clang-format-19 ;;
    fuzz) echo clang-19 libclang-rt-19-dev ;;
    coverage) echo gcovr ;;
    portable) echo patchelf ;;
    *) die "no such package group: $1" ;;
  esac
}

missing_packages() {
  local group
  for group in "$@"; do packages_of "$group"; done | tr ' ' '\n' | sort -u | while read -r name; do
    # Each name is queried separately, because dpkg-query fails as a whole if one name is unknown to it.
    [[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" == installed ]] || echo "$name"
  done
}

setup_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "packages not checked (no dpkg here); by their Debian names these are needed:" \
        "$(for group in "$@"; do packages_of "$group"; done | tr '\n' ' ')"
    return
  fi
  local missing
  missing="$(missing_packages "$@" | tr '\n' ' ')"
  missing="${missing% }"
  [[ -z "$missing" ]] && return
  if [[ "$(id -u)" != 0 ]]; then
    die "missing packages; run: sudo apt-get install --no-install-recommends $missing"
  fi
  say "installing $(wc -w <<<"$missing") packages: $missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q || say "apt-get update failed; trying with the package lists that are here"
  # shellcheck disable=SC2086  # one word per package
  apt-get install -q -y --no-install-recommends $missing ||
    die "apt-get could not install: $missing (its own message stands above)"
}

# Prints the path of Python 3.11 if it is installed (Debian 12 has it, and it was tried), else the system's Python.
system_python() {
  local candidate
  for candidate in /usr/bin/python3.11 /usr/bin/python3; do
    [[ -x "$candidate" ]] && { echo "$candidate"; return; }
  done
  die "no /usr/bin/python3: install the package python3"
}

# Prints the requirement for torch without CUDA. Torch's default build would bring some 3 GB of packages that nothing
# here uses. The CPU build's version ends in "+cpu". If the configured index does not have it, PRAGMA_TORCH_INDEX can
# name one that does (PyTorch's own page of CPU builds is one). If neither has it, the default build is used, which is
# larger but just as good.
torch_requirement() {
  local venv="$1" version="$2" offered
  [[ -n "${PRAGMA_TORCH_INDEX:-}" ]] && {
    echo "--extra-index-url $PRAGMA_TORCH_INDEX torch==$version+cpu"
    return
  }
  offered="$("$venv/bin/pip" index versions torch 2>/dev/null || true)"
  if [[ "$offered" == *"$version+cpu"* ]]; then
    echo "torch==$version+cpu"
  else
    say "this package index has no CPU build of torch $version: taking the default one (about 3 GB);" \
        "PRAGMA_TORCH_INDEX=URL names an index with CPU builds" >&2
    echo "torch==$version"
  fi
}

setup_venv() {
  local venv="${1:-.venv}" requirements=python/requirements.txt stamp python want version torch
  stamp="$venv/pragma-stamp"
  python="$(system_python)"
  want="$("$python" --version) $(sha256sum <"$requirements")"
  [[ -f "$stamp" && "$(cat "$stamp")" == "$want" ]] && return
  say "virtual environment $venv (torch is a download of about 200 MB; minutes on a slow line)"
  [[ -x "$venv/bin/pip" ]] || "$python" -m venv "$venv" ||
    die "cannot create $venv with $python: install the package python3-venv"
  version="$(sed -n 's/^torch==\([0-9.]*\).*/\1/p' "$requirements")"
  torch="$(torch_requirement "$venv" "$version")"
  # shellcheck disable=SC2086  # one word per option
  "$venv/bin/pip" install --disable-pip-version-check -r "$requirements" $torch ||
    die "cannot install torch $version; PRAGMA_TORCH_INDEX=URL names an index that has its CPU build"
  printf '%s' "$want" >"$stamp"
}

# Installs the proxy with which the model protocols are tested, in a virtual environment of its own.
setup_litellm() {
  compgen -G ".venv-litellm/.installed-*" >/dev/null ||
    say "virtual environment .venv-litellm for the tests (some 100 packages, a minute or two)"
  tests/llm/setup_litellm.sh || die "cannot install LiteLLM's proxy (see above); the tests need it"
}

# Installs ruff and mypy, in a virtual environment of their own.
setup_lint_venv() {
  local venv=.venv-lint requirements=tools/lint-requirements.txt stamp want
  stamp="$venv/pragma-stamp"
  want="$(sha256sum <"$requirements")"
  [[ -f "$stamp" && "$(cat "$stamp")" == "$want" ]] && return
  say "virtual environment $venv (ruff and mypy)"
  [[ -x "$venv/bin/pip" ]] || "$(system_python)" -m venv "$venv" ||
    die "cannot create $venv: install the package python3-venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" ||
    die "cannot install ruff and mypy (see above)"
  printf '%s' "$want" >"$stamp"
}

# Configures only when needed. ninja re-runs CMake itself when a CMakeLists.txt changes.
setup_build() {
  local preset="$1" folder="build-$1" stamp want
  shift
  [[ "$preset" == release ]] && folder=build
  stamp="$folder/pragma-stamp"
  want="$(sha256sum <CMakePresets.json) $PWD"
  if [[ ! -f "$folder/build.ninja" || "$(cat "$stamp" 2>/dev/null)" != "$want" ]]; then
    say "configuring $folder"
    # The build folder of a checkout that was moved or copied cannot be used, so it is removed.
    if [[ -f "$folder/CMakeCache.txt" ]] &&
       ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt"; then
      rm -r "$folder"
    fi
    mkdir -p "$folder"
    cmake --preset "$preset" >"$folder/configure.log" 2>&1 || {
      cat "$folder/configure.log" >&2
      die "CMake could not configure $folder"
    }
    printf '%s' "$want" >"$stamp"
  fi
  local targets=()
  [[ $# -gt 0 ]] && targets=(--target "$@")
  # shellcheck disable=SC2086  # one word per flag
  cmake --build "$folder" "${targets[@]}" ${BUILD_FLAGS:+-- $BUILD_FLAGS} ||
    die "the build in $folder failed (see above)"
}

[[ $# -gt 0 ]] || die "usage: tools/setup.sh packages GROUP... | venv | litellm | lint-venv | build PRESET [TARGET...]"
step="$1"
shift
started="$(date +%s)"
case "$step" in
  packages) setup_packages "$@" ;;
  venv) setup_venv "$@" ;;
  litellm) setup_litellm ;;
  lint-venv) setup_lint_venv ;;
  build) setup_build "$@" ;;
  *) die "no such step: $step" ;;
esac
say "$step${*:+ ($*)} ready, $(($(date +%s) - started)) s"
