"""The C++ fragments of the compendium compile where they are whole."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools" / "check_fragments.py"


def test_every_whole_fragment_compiles():
    done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    count = int(done.stdout.split(" compiles")[0].rsplit(" ", 1)[1])
    assert count >= 60, done.stdout


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_fragments", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "text, word",
    [
        ("static float twice(float x) { return 2.0f * x; }\n", "compiles"),
        ("static float twice(float x) { return 2.0f * z; }\n", "fails"),
        ("static float twice(float x) { return 2.0f * x }\n", "fails"),
        ("for (std::int64_t i = 0; i < n; ++i) out[i] = x[i];\n", "compiles"),
        ("for (std::int64_t i = 0; i < odd; ++i) strange[i] = other(i);\n", "compiles"),
        ("const int three = 3\n", "fails"),
        ("for (Widget& w : widgets()) w.shine();\n", "needs context"),
    ],
)
def test_verdicts(tool, tmp_path, text, word):
    assert tool.verdict(tool.Compiler(tmp_path), text, [text])[0] == word
