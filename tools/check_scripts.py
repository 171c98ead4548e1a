#!/usr/bin/env python3
"""Checks the modules of the HTML report (report/*.js) by what clang-format leaves at the beginning of a line.

No statement of a module, and so no function, is longer than 60 lines. Every import names an export of its module and is
used, and every export is imported somewhere.
"""

import itertools
import pathlib
import re
import sys

MOST_LINES = 60
IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w.]+)';\n", re.M)
EXPORT = re.compile(r"^export (?:async )?(?:function|const) (\w+)", re.M)


def names_of(braces):
    return [name for name in re.split(r"[,\s]+", braces) if name]


def long_statements(text):
    """Yields (line, length) of each statement that is too long; a statement begins with a word at the left edge."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if re.match(r"\w", line)]
    for start, following in itertools.pairwise([*starts, len(lines)]):
        statement = lines[start:following]
        while not statement[-1] or statement[-1].startswith("//"):
            statement.pop()
        if len(statement) > MOST_LINES:
            yield start + 1, len(statement)


def import_problems(texts):
    """Says what is wrong with imports and exports; `texts` is a text for each module name."""
    exports = {name: set(EXPORT.findall(text)) for name, text in texts.items()}
    imported: dict[str, set[str]] = {name: set() for name in texts}
    for name, text in texts.items():
        body = IMPORT.sub("", text)
        for braces, module in IMPORT.findall(text):
            for taken in names_of(braces):
                if taken not in exports.get(module, ()):
                    yield f"{name}: imports {taken}, which {module} does not export"
                elif not re.search(rf"\b{taken}\b", body):
                    yield f"{name}: imports {taken} and does not use it"
                else:
                    imported[module].add(taken)
    for name, exported in exports.items():
        for unused in sorted(exported - imported[name]):
            yield f"{name}: exports {unused}, which no module imports"


def problems(folder):
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js"))}
    for name, text in texts.items():
        for line, length in long_statements(text):
            yield f"{name}:{line}: {length} lines; at most {MOST_LINES}: split it"
    yield from import_problems(texts)
    if not texts:
        yield f"no modules in {folder}"


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent / "report")
    found = list(problems(folder))
    for problem in found:
        print(f"{folder.name}/{problem}")
    print(f"scripts: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
