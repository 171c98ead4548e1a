#!/usr/bin/env python3
"""Compiles the C++ fragments of the knowledge compendium for x86 (g++ -fsyntax-only).

A whole fragment (functions, types) is compiled as it is, after the fragments that define the functions it calls. A
fragment that is a piece of a function body is compiled inside a function that declares the usual names (x, out, n,
...). If that fails, every unknown name is declared according to its use: as a function, an array or a number. A piece
that still does not compile because of names that only its reader knows is counted as needing context. Any other error
is a failure. CUDA, Triton and Arm fragments are not checked.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLAGS = ["-std=c++20", "-O1", "-march=native", "-fopenmp", "-fsyntax-only", "-Wno-psabi", "-x", "c++"]

HEADERS = """
#include <immintrin.h>
#include <omp.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#define PRAGMA_TUNE(name, value, ...) constexpr int name = value
"""

# Names that a piece of a function body may use without declaring them: those of kernels of tensors.
POINTERS = """
           float* out, const float* x, const float* y, const float* w, const float* weight, const float* bias,
           const float* gamma, const float* beta, const float* mean, const float* var, const float* scale,
           const float* e, const float* a, const float* b, const float* v, const float* B, const float* A, float* acc,
           const std::int64_t* index, void* scratch, float* partial, float sum, """
VECTORS = "__m512 a, __m512 b, __m512 x, float v, float var, float f, float i_, float g, float c, float o, "
SIZES = """
           std::int64_t n, std::int64_t rows, std::int64_t cols, std::int64_t count, std::int64_t dim, std::int64_t M,
           std::int64_t N, std::int64_t K, std::int64_t C, std::int64_t H, std::int64_t W, std::int64_t HW,
           std::int64_t D, std::int64_t L, std::int64_t i, std::int64_t j, std::int64_t task_elements) {
"""
OPEN = """
namespace task { inline constexpr double eps = 1e-5; inline constexpr std::int64_t stride = 1, padding = 0; }
[[maybe_unused]] static constexpr float eps = 1e-5f;
void piece("""
CONTEXTS = [OPEN + POINTERS + SIZES, OPEN + VECTORS + SIZES]
BARE = "void piece() {\n"
UNKNOWN = re.compile(r"error: (?:'|‘)([^'’]+)(?:'|’) (?:was not declared|does not name a type|has not been declared)")


def fragments():
    """Yields every x86 fragment as (id, file, text)."""
    for file in sorted((ROOT / "knowledge").glob("*/*.toml")):
        for entry in tomllib.loads(file.read_text(encoding="utf-8")).get("entry", []):
            if entry.get("fragment") and {"cpu", "x86"} & set(entry["targets"]):
                yield entry["id"], file.relative_to(ROOT), entry["fragment"]


ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}


class Compiler:
    """Runs g++ with the usual headers precompiled, since parsing them is nearly all of the work."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "kernel.h").write_text("#pragma once\n#include <cstdint>\n")
        (self.folder / "usual.h").write_text(HEADERS)
        flags = [flag for flag in FLAGS if flag not in ("-fsyntax-only", "-x", "c++")]
        subprocess.run(["g++", *flags, "-x", "c++-header", "usual.h", "-o", "usual.h.gch"], cwd=folder, check=True,
                       env=ENVIRONMENT)

    def errors(self, source):
        done = subprocess.run(["g++", *FLAGS, "-I.", "-include", "usual.h", "-"], cwd=self.folder, input=source, text=True,
                              capture_output=True, env=ENVIRONMENT)
        if done.returncode == 0:
            return []
        return [line for line in done.stderr.splitlines() if "error:" in line] or [done.stderr[-300:]]


def whole(compiler, text, others):
    """Compiles the text at file scope, after those of `others` that define what it calls. Returns the errors."""
    before: list[str] = []
    while True:
        errors = compiler.errors("".join(before) + text)
        missing = {m.group(1) for error in errors for m in [UNKNOWN.search(error)] if m}
        more = [other for other in others if other != text and other not in before
                and any(re.search(rf"^(?:static|template|typedef).*\b{re.escape(name)}\b", other, re.M) for name in missing)]
        if not more:
            return errors
        before[:0] = more[:1]


POINTER_NAMES = {"x", "y", "w", "out", "a", "b", "scratch", "in", "weight", "partial"}


def declared(name, text):
    """Returns a declaration of `name` that fits its use in the text."""
    word = re.escape(name)
    if re.search(rf"\b{word}\(", text):
        return f"auto {name} = [](auto&&...) {{ return 0.0f; }};\n"
    if re.search(rf"\b{word}\[[^]]*\]\[", text):
        return f"static float {name}[64][64];\n"
    if re.search(rf"\b{word}\[", text) or name in POINTER_NAMES:
        kind = "std::int64_t" if re.search(rf"\[{word}\[|index", text) and name == "index" else "float"
        return f"{kind}* {name} = nullptr;\n"
    if re.search(rf"<[^>;]*\b{word}\b[^;]*>\(|\[{word}\]", text) and name[0] in "kK":
        return f"constexpr std::int64_t {name} = 8;\n"
    return f"std::int64_t {name} = 8;\n"


def inferred(compiler, text):
    """Compiles the text as a function body and declares unknown names by their use.

    Returns the errors, and whether any name was declared.
    """
    names: list[str] = []
    extra = ""
    while True:
        errors = compiler.errors(BARE + extra + text + "\n}\n")
        fresh = {m.group(1) for error in errors for m in [UNKNOWN.search(error)] if m} - set(names)
        if not fresh:
            return errors, bool(names)
        names += sorted(fresh)
        extra += "".join(declared(name, text) for name in sorted(fresh))


def verdict(compiler, text, others):
    first = next((line for line in text.splitlines() if line and not line.startswith(("//", "#include"))), "")
    if re.match(r"(?:static|template|extern|inline|namespace)\b", first):
        errors = whole(compiler, text, others)
        return ("fails", errors[0]) if errors else ("compiles", "")
    for context in CONTEXTS:
        if not compiler.errors(context + text + "\n}\n"):
            return "compiles", ""
    inside, guessed = inferred(compiler, text)
    if not inside or not whole(compiler, text, others):
        return "compiles", ""
    return ("needs context" if guessed else "fails"), inside[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verbose", action="store_true", help="also list what needs context")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    found = list(fragments())
    texts = [text for _, _, text in found]
    counts = {"compiles": 0, "needs context": 0, "fails": 0}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        compiler = Compiler(folder)
        results = pool.map(lambda item: verdict(compiler, item[2], texts), found)
        for (name, file, _), (word, why) in zip(found, results, strict=True):
            counts[word] += 1
            if word == "fails" or (options.verbose and word != "compiles"):
                print(f"{file}: {name}: {word}: {why}", file=sys.stderr)
    print(f"fragments: {len(found)} for x86, " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    return 1 if counts["fails"] or not counts["compiles"] else 0


if __name__ == "__main__":
    sys.exit(main())
