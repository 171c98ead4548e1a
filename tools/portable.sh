#!/usr/bin/env bash
# Makes a folder that runs on another Linux with the same processor family and nothing of pragma installed. That
# machine's glibc must be at least as new as this one's, so Debian 12 can build for Ubuntu 24.04.
#
#   FOLDER/bin/pragma     FOLDER/lib/*.so      FOLDER/lib/pragma/ (jailed programs, bwrap)
#   FOLDER/share/pragma/  (python, prompts, strategies, knowledge, report)
#
# Python with torch is the other machine's own (--python, PRAGMA_PYTHON). So is glibc, because its loader, its name
# service and its locales belong together.
#
#   tools/portable.sh BUILD FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { printf 'portable: %s\n' "$*" >&2; exit 1; }
[[ $# == 2 ]] || die "usage: tools/portable.sh BUILD FOLDER"
build="$1"
folder="$2"
limit_kb=40960
[[ -x "$build/pragma" ]] || die "no $build/pragma: run make first"
command -v patchelf >/dev/null || die "patchelf is missing: tools/setup.sh packages portable"
bwrap="$(command -v bwrap)" || die "bwrap is missing: tools/setup.sh packages build"
[[ -z "$(ls -A "$folder" 2>/dev/null)" ]] || die "$folder is not empty: name a new folder"

# Prints the path of each shared library that a program needs, without glibc's own parts.
libraries_of() {
  ldd "$1" 2>/dev/null | awk '$3 ~ /^\// { print $3 }' |
    grep -Ev '/(ld-linux[^/]*|lib(c|m|dl|pthread|rt|resolv|util|anl|mvec|nss_[a-z]+))\.so' || true
}

cmake --install "$build" --prefix "$folder" --strip >/dev/null
install -m 0755 "$bwrap" "$folder/lib/pragma/bwrap"
programs=("$folder/bin/pragma" "$folder"/lib/pragma/*)
for program in "${programs[@]}"; do libraries_of "$program"; done | sort -u | while read -r library; do
  install -m 0644 "$library" "$folder/lib/$(basename "$library")"
done
# Sets DT_RPATH, which is also searched for libraries that libraries need. DT_RUNPATH is not.
for program in "${programs[@]}"; do
  [[ -n "$(libraries_of "$program")" ]] || continue
  up=".."
  [[ "$program" == */lib/pragma/* ]] || up="../lib"
  patchelf --force-rpath --set-rpath "\$ORIGIN/$up" "$program"
done
for library in "$folder"/lib/*.so*; do
  strip --strip-unneeded "$library"
  patchelf --force-rpath --set-rpath "\$ORIGIN" "$library"
done
# Checks that nothing but glibc is still loaded from this machine.
for program in "${programs[@]}"; do
  outside="$(libraries_of "$program" | grep -v "^$(cd "$folder" && pwd)/" || true)"
  [[ -z "$outside" ]] || die "$program would still load $outside"
done
size="$(du -sk "$folder" | cut -f1)"
[[ "$size" -le "$limit_kb" ]] || die "$folder has $size KiB, more than the $limit_kb it may have"
echo "portable: $folder ($((size / 1024)) MiB)"
