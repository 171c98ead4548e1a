"""tools/check_prose.py against small trees: one that keeps the rules, and each way of breaking them."""

import pathlib
import subprocess
import sys

import pytest

CHECKER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_prose.py"


def check(root, **files):
    for name, text in files.items():
        path = root / "src" / (name + ".cc")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return subprocess.run([sys.executable, CHECKER, "--root", root], capture_output=True, text=True)


def test_plain_sentences_pass(tmp_path):
    ran = check(tmp_path, a='// Returns the doorbell. There is no other page.\nint x;  // "is no X" in code: no_such_thing\n')
    assert ran.returncode == 1, "the comment quotes the pattern"
    ran = check(tmp_path, a="// Returns the doorbell. There is no other page.\nint nobody = 1;\n")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("text", [
    "// Of a worker's doorbell: its median.\n",
    'const char* k = "\'5x\' is no duration";\n',
    "int x;  // whoever reads it\n",
    "/* Likewise for the other side. */\n",
    'const char* k = "2.1 times faster";\n',
])
def test_each_pattern_is_found_with_its_line(tmp_path, text):
    ran = check(tmp_path, a="int before;\n" + text)
    assert ran.returncode == 1
    assert ran.stderr.startswith("src/a.cc:2: ")


def test_code_is_not_prose(tmp_path):
    ran = check(tmp_path, a="#include <nobody>\nint likewise = whoever(somebody);\n")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("subject, good", [
    ("expert: share affine printing", True),
    ("What the last changes wrote again stands once", False),
    ("expert: " + "x" * 72, False),
])
def test_subjects_after_the_check_came(tmp_path, subject, good):
    def git(*arguments):
        subprocess.run(["git", "-C", tmp_path, "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments],
                       check=True, capture_output=True)
    git("init")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "check_prose.py").write_text("")
    git("add", ".")
    git("commit", "-m", "An old subject without any area, which is not looked at")
    git("commit", "--allow-empty", "-m", subject)
    assert (check(tmp_path).returncode == 0) is good
