#!/usr/bin/env python3
"""How many source files a change of a header compiles again, from the includes alone.

  tools/include_fanout.py [HEADER...]     default: the twenty headers with the largest number

A header is named as it is included: core/evaluation.h. Precompiled headers hold nothing of the project,
so each file that reaches the header, directly or through others, counts once.
"""

import argparse
import pathlib
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
SOURCES = {".cc", ".c"}


def read(root):
    """{name as it is included: names that it includes}"""
    graph = {}
    for folder, base in ((root / "src", root / "src"), (root / "worker", root), (root / "tests", root)):
        for path in folder.rglob("*"):
            if path.suffix in SOURCES | {".h"} and path.is_file():
                text = RAW_STRING.sub("", path.read_text(encoding="utf-8", errors="replace"))
                graph[str(path.relative_to(base))] = set(INCLUDE.findall(text))
    return graph


def reaching(graph, header):
    users: dict[str, set[str]] = {}
    for name, includes in graph.items():
        for included in includes:
            users.setdefault(included, set()).add(name)
    seen, left = set(), [header]
    while left:
        for user in users.get(left.pop(), ()):
            if user not in seen:
                seen.add(user)
                left.append(user)
    return sum(pathlib.PurePath(name).suffix in SOURCES for name in seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("headers", nargs="*", metavar="HEADER")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    arguments = parser.parse_args()
    graph = read(arguments.root)
    objects = sum(pathlib.PurePath(name).suffix in SOURCES for name in graph)
    headers = arguments.headers or [name for name in graph if name.endswith(".h")]
    counts = sorted(((reaching(graph, name), name) for name in headers), reverse=True)
    for count, name in counts if arguments.headers else counts[:20]:
        print(f"{count:4} of {objects}  {name}")


if __name__ == "__main__":
    main()
