"""tools/check_layers.py against small trees: one that keeps the rule, and each way of breaking it."""

import pathlib
import subprocess
import sys

import pytest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"

TABLE = """# Design

## 8. Layout

| height | folder | is | includes, besides base and core (not transitive) |
|---|---|---|---|
| 0 | base | small things | - |
| 1 | core | values | - |
| 2 | http | the wire | - |
| 3 | llm | models | http |
| 3 | build | compilers | - |
| 9 | cli | main | all |

Text after the table | with | bars | in it.
"""


@pytest.fixture
def tree(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write("docs/design.md", TABLE)
    write("src/base/text.h", "#include <string>\n")
    write("src/core/task.h", '#include "base/text.h"\n')
    write("src/llm/model.cc", '#include "llm/model.h"\n\n#include "core/task.h"\n#include "http/get.h"\n')
    write("src/cli/main.cc", '#include "llm/model.h"\n#include "build/builder.h"\n')
    write("src/build/tags.h", '#include "worker/load/deferred_tag.h"\n')
    tree.write = write
    tree.root = tmp_path
    return tree


def check(root):
    return subprocess.run([sys.executable, str(CHECKER), "--root", str(root)],
                          capture_output=True, text=True, check=False)


def test_good_tree_passes(tree):
    result = check(tree.root)
    assert result.returncode == 0, result.stderr
    assert "0 problems" in result.stdout


@pytest.mark.parametrize("file, include, why", [
    ("src/http/get.cc", "llm/model.h", "points up: http is at 2, llm at 3"),
    ("src/llm/model.h", "build/builder.h", "points up: llm is at 3, build at 3"),
    ("src/build/builder.cc", "http/get.h", "build may include base, core"),
    ("src/base/text.cc", "core/task.h", "points up: base is at 0, core at 1"),
    ("src/llm/x_test.cc", "cli/main.h", "points up"),
    ("src/llm/model.cc", "model.h", "write the path from src/"),
    ("src/llm/model.cc", "wroker/x.h", "wroker is not a layer"),
    ("src/llm/model.cc", "worker/protocol.h", "only for harness, task, verify"),
])
def test_bad_include_is_named_with_its_line(tree, file, include, why):
    tree.write(file, f'// comment\n#include "{include}"\n')
    result = check(tree.root)
    assert result.returncode == 1
    assert f'{file}:2: "{include}": {why}' in result.stderr


PARTS = """
| part | is | includes, of its layer |
|---|---|---|
| build/low | values | - |
| build/high | text | low |
"""


@pytest.fixture
def parts(tree):
    tree.write("docs/design.md", TABLE + PARTS)
    tree.write("src/build/low/x.cc", '#include "base/text.h"\n')
    tree.write("src/build/high/x.cc", '#include "build/low/x.h"\n')
    tree.write("src/build/top.cc", '#include "build/high/x.h"\n#include "build/low/x.h"\n')
    return tree


def test_parts_of_a_layer_may_include_what_their_lines_name(parts):
    parts.write("src/build/low/x_test.cc", '#include "build/high/x.h"\n')
    result = check(parts.root)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("include", ["build/high/x.h", "build/top.h"])
def test_a_part_that_includes_a_higher_one_is_named(parts, include):
    parts.write("src/build/low/y.cc", f'#include "{include}"\n')
    result = check(parts.root)
    assert result.returncode == 1
    assert f'src/build/low/y.cc:1: "{include}": build/low may include only itself' in result.stderr


def test_a_part_without_a_line_is_named(parts):
    parts.write("src/build/other/x.cc", "")
    assert "src/build/other: no line in the table of parts" in check(parts.root).stderr


def test_two_types_of_one_name_are_named(tree):
    tree.write("src/build/parts.h", "namespace pragma {\nclass Builder final {\n};\n}  // namespace pragma\n")
    tree.write("src/llm/parts.cc", "namespace pragma {\nusing Builder = int;\n}  // namespace pragma\n")
    result = check(tree.root)
    assert result.returncode == 1
    assert "src/llm/parts.cc:2: pragma::Builder is also defined at src/build/parts.h:2" in result.stderr


@pytest.mark.parametrize("other", [
    "namespace pragma {\nclass Builder;\nstruct Builder::Impl {\n};\n}  // namespace pragma\n",
    "namespace pragma {\nnamespace {\nclass Builder {\n};\n}  // namespace\n}  // namespace pragma\n",
    "namespace pragma::llm {\nclass Builder {\n};\n}  // namespace pragma::llm\n",
    'const char* kText = R"(\nnamespace pragma {\nclass Builder {\n};\n)";\n',
])
def test_types_of_one_name_in_other_scopes_are_different(tree, other):
    tree.write("src/build/parts.h", "namespace pragma {\nclass Builder final {\n};\n}  // namespace pragma\n")
    tree.write("src/llm/parts.cc", other)
    result = check(tree.root)
    assert result.returncode == 0, result.stderr


def test_tests_may_include_what_stands_in_tests(tree):
    tree.write("src/llm/x_test.cc", '#include "tests/llm/server.h"\n')
    assert check(tree.root).returncode == 0
    tree.write("src/llm/x.cc", '#include "tests/llm/server.h"\n')
    assert 'src/llm/x.cc:1: "tests/llm/server.h": tests is not a layer' in check(tree.root).stderr


def test_includes_in_raw_strings_are_text(tree):
    tree.write("src/llm/x_test.cc", 'auto s = R"cpp(\n#include "kernel.h"\n)cpp";\n#include "cli/x.h"\n')
    result = check(tree.root)
    assert "kernel.h" not in result.stderr
    assert "src/llm/x_test.cc:4:" in result.stderr


def test_folder_without_a_line_is_named(tree):
    tree.write("src/extra/x.cc", "")
    assert "src/extra: no line in the table" in check(tree.root).stderr


def test_table_that_points_up_is_refused(tree):
    tree.write("docs/design.md", TABLE.replace("| http | the wire | -", "| http | the wire | llm"))
    result = check(tree.root)
    assert result.returncode == 1
    assert "http (height 2) may include llm (height 3)" in result.stderr


def test_cmake_that_links_more_than_the_table_is_refused(tree):
    tree.write("CMakeLists.txt", "pragma_layer(llm LAYERS core http USES curl)\n"
                                 "pragma_layer(build LAYERS core http\n  USES fmt::fmt)\n")
    result = check(tree.root)
    assert result.returncode == 1
    assert result.stderr.strip() == "CMakeLists.txt: build links http, which the table does not allow"


def test_missing_table_is_not_a_pass(tree):
    tree.write("docs/design.md", "# Design\n")
    assert check(tree.root).returncode == 2
