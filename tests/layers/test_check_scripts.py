"""tools/check_scripts.py against small folders: one that keeps the rules, and each way of breaking them."""

import pathlib
import subprocess
import sys

import pytest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_scripts.py"
GOOD = {"a.js": "import {\n  b,\n  c\n} from './b.js';\n\nb(c);\n",
        "b.js": "// Two values.\n\nexport const b = x => x;\n\nexport async function c() {\n}\n"}


def check(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, CHECKER, folder], capture_output=True, text=True)


def body(lines):
    return "  go();\n" * (lines - 2)


def test_modules_that_fit_pass(tmp_path):
    ran = check(tmp_path, {**GOOD, "a.js": GOOD["a.js"] + "function d() {\n" + body(60) + "}\n\n// A remark.\nd();\n"})
    assert (ran.returncode, ran.stdout) == (0, "scripts: 0 problems\n")


@pytest.mark.parametrize(("name", "text", "said"), [
    ("a.js", GOOD["a.js"] + "function d() {\n" + body(61) + "}\n", "a.js:7: 61 lines"),
    ("a.js", GOOD["a.js"] + "const d = {\n" + body(61) + "};\n", "a.js:7: 61 lines"),
    ("a.js", "import {b} from './b.js';\nb();\n", "b.js: exports c, which no module imports"),
    ("a.js", GOOD["a.js"].replace("b(c)", "b()"), "a.js: imports c and does not use it"),
    ("b.js", "export const b = 1;\n", "a.js: imports c, which b.js does not export"),
])
def test_each_fault_is_found(tmp_path, name, text, said):
    ran = check(tmp_path, {**GOOD, name: text})
    assert ran.returncode == 1
    assert said in ran.stdout
