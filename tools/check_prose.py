#!/usr/bin/env python3
"""Fails on phrases that make comments, messages and pages hard to read (HACKING.md, section on prose).

It looks at comments and string literals of C, C++, Python and JavaScript, at prompts and at Markdown pages
outside docs/results/. It also checks the subjects of the commits that came after this file: imperative,
an area in front, at most 72 characters.
"""

import argparse
import pathlib
import re
import subprocess
import sys

SUBJECT_LIMIT = 72
SUBJECT = re.compile(r"^[\w./, -]+: \S|^(Merge|Revert) ")
CODE = {".h", ".cc", ".c", ".cpp", ".cu", ".py", ".js"}
TEXT = {".md", ".mustache"}
FOLDERS = ("src", "worker", "python", "bench", "fuzz", "tools", "cmake", "report", "prompts", "docs", "tests")
# Recorded or generated text, kernels that are data, and words of other people.
SKIPPED = ("docs/results/", "bench/diagnosis/", "bench/suite_kernels/", "tests/red_team/", "tests/honest/",
           "tests/gpu/", "tests/diagnosis/", "src/task/golden/", "src/agent/golden/", "tools/check_prose.py",
           "tests/layers/test_check_prose.py")
TOKEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/|(?m:^[ \t]*#[^\n]*)', re.DOTALL)

# Each with what to write instead.
PATTERNS = [
    (re.compile(r"(?:^|//|/\*|#)\s*Of (?:a|an|the|one|what|each|all)\b"),
     "begins with a genitive: begin with the noun that it is about"),
    (re.compile(r"(?<!\b[Tt]here )\b[Ii]s no (?!longer\b|more\b|less\b|reason\b|need\b|way\b|such\b|other\b|better\b)"
                r"\w+"), 'write "is not a ..."'),
    (re.compile(r"\b(?:[Ww]hoever|[Ss]omebody|[Nn]obody|[Ll]ikewise|of ours|of others)\b"),
     "name the thing that is meant"),
    (re.compile(r"\b\d+(?:\.\d+)? times (?:more|less|faster|slower)\b"), 'write "2.1x"'),
]


def pieces(path, text):
    """(line, comment or string) of a source file; whole lines of a page."""
    if path.suffix in TEXT:
        # The rows of a catalogue are copied from the first lines of tests.
        yield from ((number, line) for number, line in enumerate(text.splitlines(), 1)
                    if not (path.name == "trust.md" and line.startswith("| `")))
        return
    for token in TOKEN.finditer(text):
        piece = token.group()
        if path.suffix != ".py" and piece.lstrip().startswith("#"):
            continue  # a preprocessor line
        if piece.startswith('R"') and path.parts[:2] == ("src", "expert"):
            continue  # text of a generated kernel, which is compared byte for byte
        yield text.count("\n", 0, token.start()) + 1, piece


def problems_of(path, text):
    for line, piece in pieces(path, text):
        for pattern, advice in PATTERNS:
            for found in pattern.finditer(piece):
                at = line + piece.count("\n", 0, found.start())
                yield f"{path}:{at}: '{found.group().strip()}': {advice}"


def files(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix in CODE | TEXT and path.is_file() and not name.startswith(SKIPPED):
                yield path
    yield from (root / name for name in ("README.md", "HACKING.md") if (root / name).exists())


def subjects(root):
    """Subjects of the commits since this file came, newest first; none outside of a repository."""
    def git(*arguments):
        ran = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        return ran.stdout.splitlines() if ran.returncode == 0 else []
    added = git("log", "--diff-filter=A", "--format=%H", "--", "tools/check_prose.py")
    return git("log", "--format=%s", f"{added[-1]}..HEAD") if added else []


def subject_problems(root):
    for subject in subjects(root):
        if len(subject) > SUBJECT_LIMIT:
            yield f"commit '{subject[:60]}...': {len(subject)} characters, at most {SUBJECT_LIMIT}"
        elif not SUBJECT.match(subject):
            yield f"commit '{subject}': begin with an area, as in 'expert: share affine printing'"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    problems = list(subject_problems(root))
    count = 0
    for path in files(root):
        count += 1
        problems += problems_of(path.relative_to(root), path.read_text(encoding="utf-8", errors="replace"))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"prose: {count} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
