#!/usr/bin/env python3
"""Fails on an include that does not point down, and on two types with one name (docs/design.md section 8 has the rule).

Every folder of src/ may include itself, base and core (base: only itself), and the folders that its line of the table
names. Those must have a lower height than the line itself. CMakeLists.txt must not link more than the table allows. The
headers in worker/ that both sides of a process boundary share are for the folders named below. A test may also include
headers in tests/.

All layers are linked into one program. If two classes have the same name, the linker keeps the functions of only one.
Types in an unnamed namespace are local to their file.
"""

import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
CMAKE_LAYER = re.compile(r"pragma_layer\((\w+)([^)]*)\)")
# Headers that both sides of a process boundary share, and the folders that may include them.
SHARED_HEADERS = {
    "worker/protocol.h": {"task", "harness", "verify"},
    "worker/cpu/filter.h": {"harness"},
    "worker/load/": {"build", "profile"},
    "worker/jail/": {"sandbox"},
    "worker/profiler/": {"build", "profile"},
}
NAMESPACE = re.compile(r"^namespace ([\w:]*) ?\{")
END_OF_NAMESPACE = re.compile(r"^\}  // namespace ?([\w:]*)")
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)\b(?!::)[^;]*\{|^using (\w+) =")
SUFFIXES = {".h", ".cc", ".c"}


def read_table(design):
    """Returns {folder: (height, names)} from the table whose header begins with height and folder."""
    rows = {}
    inside = False
    for line in design.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| height | folder"):
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and len(cells) == 4 and cells[0].isdigit():
            rows[cells[1]] = (int(cells[0]), cells[3])
    table = {}
    for folder, (height, names) in rows.items():
        if names == "all":
            allowed = set(rows) - {folder}
        else:
            allowed = {name.strip() for name in names.split(",")} - {"-", ""}
        common = set() if folder == "base" else {"base"} if folder == "core" else {"base", "core"}
        table[folder] = (height, allowed | common)
    return table


def read_parts(design):
    """{"layer/part": the parts of its layer that it may include} of the table whose header begins with part."""
    parts = {}
    inside = False
    for line in design.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| part |"):
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and len(cells) == 3 and "/" in cells[0]:
            names = {name.strip() for name in cells[2].split(",")} - {"-", ""}
            parts[cells[0]] = {f"{cells[0].split('/')[0]}/{name}" for name in names}
    return parts


def part_of(path):
    """"layer/part" of a path below src/; "layer" for what lies in the layer's own folder."""
    return "/".join(path.split("/")[:-1][:2])


def part_problems(root, parts):
    """Includes from one part of a layer into another that its line does not name. The layer's own folder stands above
    its parts, and tests may include all of their layer."""
    for folder in sorted({file.parent for file in (root / "src").glob("*/*/*.cc")}):
        name = str(folder.relative_to(root / "src"))
        if name not in parts:
            yield f"src/{name}: no line in the table of parts in docs/design.md 8"
            continue
        for file in sorted(folder.rglob("*")):
            if file.suffix not in SUFFIXES or file.stem.endswith(("_test", "_testing")):
                continue
            text = RAW_STRING.sub(lambda raw: "\n" * raw.group().count("\n"), file.read_text(encoding="utf-8"))
            for match in INCLUDE.finditer(text):
                target = part_of(match.group(1))
                if target.split("/")[0] == folder.parent.name and target != name and target not in parts[name]:
                    line = text.count("\n", 0, match.start(1)) + 1
                    allowed = ", ".join(sorted(parts[name])) or "only itself"
                    yield f'{file.relative_to(root)}:{line}: "{match.group(1)}": {name} may include {allowed}'


def table_problems(table):
    for folder, (height, allowed) in table.items():
        for name in sorted(allowed):
            if name not in table:
                yield f"docs/design.md: {folder} may include {name}, which has no line in the table"
            elif table[name][0] >= height:
                yield f"docs/design.md: {folder} (height {height}) may include {name} (height {table[name][0]})"


def complaint(table, folder, target):
    """Returns why src/`folder` may not include "`target`", or None if it may."""
    first = target.split("/")[0]
    if "/" not in target:
        return "write the path from src/, as in \"base/result.h\""
    for shared, users in SHARED_HEADERS.items():
        if target.startswith(shared):
            return None if folder in users else f"only for {', '.join(sorted(users))}"
    if first not in table:
        return f"{first} is not a layer"
    if first == folder or first in table[folder][1]:
        return None
    if table[first][0] >= table[folder][0]:
        return f"points up: {folder} is at {table[folder][0]}, {first} at {table[first][0]}"
    return f"{folder} may include {', '.join(sorted(table[folder][1])) or 'only itself'}"


def include_problems(root, table):
    for folder in sorted(path for path in (root / "src").iterdir() if path.is_dir()):
        if folder.name not in table:
            yield f"src/{folder.name}: no line in the table of docs/design.md 8"
            continue
        for file in sorted(folder.rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            # Kernels in raw strings have includes of their own, so they are removed. Line numbers stay the same.
            text = RAW_STRING.sub(lambda raw: "\n" * raw.group().count("\n"),
                                  file.read_text(encoding="utf-8"))
            for match in INCLUDE.finditer(text):
                if match.group(1).startswith("tests/") and file.stem.endswith("_test"):
                    continue
                why = complaint(table, folder.name, match.group(1))
                if why:
                    line = text.count("\n", 0, match.start(1)) + 1
                    yield f'{file.relative_to(root)}:{line}: "{match.group(1)}": {why}'


def named_types(text):
    """Yields (name with its namespace, line) for each type that is defined outside of functions and classes."""
    inside = []
    for number, line in enumerate(text.splitlines(), 1):
        if begin := NAMESPACE.match(line):
            inside.append(begin.group(1))
        elif END_OF_NAMESPACE.match(line) and inside:
            inside.pop()
        elif (found := TYPE.match(line)) and "" not in inside:
            yield "::".join([*inside, found.group(1) or found.group(2)]), number


def type_problems(root):
    places: dict[str, list[str]] = {}
    for file in sorted((root / "src").rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        text = RAW_STRING.sub(lambda raw: "\n" * raw.group().count("\n"), file.read_text(encoding="utf-8"))
        for name, line in named_types(text):
            places.setdefault(name, []).append(f"{file.relative_to(root)}:{line}")
    for name, where in sorted(places.items()):
        if len(where) > 1:
            yield f"{where[-1]}: {name} is also defined at {', '.join(where[:-1])}"


def cmake_problems(root, table):
    lists = root / "CMakeLists.txt"
    if not lists.exists():
        return
    for match in CMAKE_LAYER.finditer(lists.read_text(encoding="utf-8")):
        folder, words = match.group(1), match.group(2).split()
        if folder not in table:
            yield f"CMakeLists.txt: layer {folder} has no line in the table"
            continue
        end = words.index("USES") if "USES" in words else len(words)
        layers = set(words[:end]) - {"LAYERS"}
        for name in sorted(layers - table[folder][1]):
            yield f"CMakeLists.txt: {folder} links {name}, which the table does not allow"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root
    table = read_table(root / "docs" / "design.md")
    if not table:
        print("layers: no table found in docs/design.md section 8", file=sys.stderr)
        return 2
    problems = [*table_problems(table), *include_problems(root, table), *cmake_problems(root, table),
                *part_problems(root, read_parts(root / "docs" / "design.md")), *type_problems(root)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"layers: {len(table)} folders in the table, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
