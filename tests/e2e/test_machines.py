"""Machines and set-ups that are not as at home (docs/results/machines.md): one clear line, and nothing is lost."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import HERE, KERNELS, TASKS, Program, ScriptedModel, recovering_model
from shared import copied_home

SCALE = TASKS / "scale.py"
GOOD = KERNELS / "good.cpp"
REDUCED = "reduced (no namespaces)"


class InAContainer(Program):
    """The program where no namespaces can be made."""

    def __init__(self, folder: pathlib.Path, *flags: str):
        super().__init__(folder)
        self.flags = flags

    def command(self, *arguments) -> list[str]:
        return [sys.executable, str(HERE / "without_namespaces.py"), *self.flags, *super().command(*arguments)]


def warnings(ran) -> list[str]:
    return [line for line in ran.err.splitlines() if "reduced jail" in line]


def test_without_namespaces_the_reduced_jail_is_taken_and_every_result_says_so(tmp_path, program, home):
    inside = InAContainer(tmp_path)
    evaluate = ["evaluate", SCALE, GOOD, "--no-timing", "--home", home]
    ran = inside.run(*evaluate, "--json", "--bundle", "good.json", code=0)
    assert ran.json["environment"]["trust"] == REDUCED
    assert "namespaces" not in ran.json["environment"]["protections"]
    assert len(warnings(ran)) == 1 and "new namespace" in warnings(ran)[0]
    assert REDUCED in inside.run(*evaluate, code=0).out

    again = program.run("recheck", "good.json", "--no-timing", "--json", code=0).json
    assert again["recorded"]["environment"]["trust"] == REDUCED
    assert again["same_seed"]["environment"]["trust"] == "isolated"
    assert any(difference["what"] == "trust" for difference in again["differences"])


def test_the_full_jail_can_be_demanded(tmp_path, home):
    ran = InAContainer(tmp_path).run("evaluate", SCALE, GOOD, "--no-timing", "--home", home, "--jail", "full")
    assert "docs/containers.md" in ran.assert_one_clear_error(3)


def test_doctor_says_which_jail_works_and_what_the_full_one_needs(tmp_path):
    items = {item["item"]: item for item in InAContainer(tmp_path).run("doctor", "--json", code=0).json["items"]}
    assert items["sandbox"]["state"] == "limited"
    assert REDUCED in items["sandbox"]["detail"]
    assert "--security-opt seccomp=unconfined" in items["sandbox"]["remedy"]


def test_without_landlock_no_candidate_in_python_runs(tmp_path, home):
    inside = InAContainer(tmp_path, "--no-landlock")
    solution = HERE.parent / "red_team_python" / "honest_torch.py"
    task = TASKS / f"{solution.read_text().split('task=')[1].split()[0]}.py"
    refused = inside.run("evaluate", task, solution, "--no-timing", "--home", home)
    assert "Landlock" in refused.assert_one_clear_error(3)
    ran = inside.run("evaluate", SCALE, GOOD, "--no-timing", "--home", home, "--json", code=0)
    assert ran.json["environment"]["trust"] == "reduced (no namespaces, no Landlock)"


def test_a_kernel_is_timed_in_the_reduced_jail(program, home):
    (program.folder / "pragma.toml").write_text('jail = "reduced"\ninterval_width = 1000000\n')
    ran = program.run("evaluate", SCALE, GOOD, "--no-compile-baseline", "--home", home, "--json", code=0)
    assert ran.json["environment"]["trust"] == REDUCED
    assert ran.json["speedup"]["eager"]["median"] > 0


BAD = ["crash", "leaves", "forbidden_call", "wrong"]


@pytest.fixture(scope="module")
def verdicts(home, tmp_path_factory):
    """Of the bad kernels, by the kind of jail and the kernel."""
    program, files = Program(tmp_path_factory.mktemp("verdicts")), [KERNELS / f"{kernel}.cpp" for kernel in BAD]
    arguments = ["--no-timing", "--home", home, "--json", "--jail"]
    judged = {jail: program.run("evaluate", SCALE, *files, *arguments, jail, code=1).json["evaluations"] for jail in ["full", "reduced"]}
    return {jail: dict(zip(BAD, found, strict=True)) for jail, found in judged.items()}


@pytest.mark.parametrize("kernel", BAD)
def test_verdicts_are_those_of_the_full_jail(verdicts, kernel):
    full, reduced = verdicts["full"][kernel], verdicts["reduced"][kernel]
    assert reduced["status"] == full["status"]
    assert reduced["reason"].split(":")[0] == full["reason"].split(":")[0]


# --- set-ups ---


class OnADisk(Program):
    """The program with a small file system of its own mounted at `disk`, as only root can have it."""

    def __init__(self, folder: pathlib.Path, options: str):
        super().__init__(folder)
        self.options = options
        (folder / "disk").mkdir()

    def command(self, *arguments) -> list[str]:
        script = 'mount -t tmpfs -o "$0" tmpfs disk && [ ! -d kept ] || cp -r kept/. disk; case "$0" in *ro) mount -o remount,ro disk;; esac; "$@"; code=$?; mkdir -p seen; cp -r disk/. seen; exit $code'
        return ["unshare", "-m", "sh", "-c", script, self.options, *super().command(*arguments)]


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small file system")


@needs_root
def test_a_full_disk_gets_one_line(tmp_path, home):
    small = OnADisk(tmp_path, "size=128k")
    ran = small.run("evaluate", SCALE, GOOD, "--no-timing", "--home", "disk/home")
    message = ran.assert_one_clear_error(3)
    assert "full" in message or "No space left" in message


@needs_root
def test_a_home_that_cannot_be_written_gets_one_line(tmp_path):
    ran = OnADisk(tmp_path, "size=1m,ro").run("evaluate", SCALE, GOOD, "--no-timing", "--home", "disk/home")
    assert "Read-only" in ran.assert_one_clear_error(3)


ODD = "mit 'Leerzeichen\", ü und 木 $x"


def test_paths_with_spaces_quotes_and_other_letters(tmp_path, home):
    folder = tmp_path / ODD
    folder.mkdir()
    task, kernel = folder / "skalär 1.py", folder / "kern 'x'.cpp"
    shutil.copy(SCALE, task)
    shutil.copy(GOOD, kernel)
    copied_home(home, folder / "heim ü")
    odd = Program(folder)
    for jail in ["full", "reduced"]:
        arguments = ["--no-timing", "--home", "heim ü", "--jail", jail, "--json", "--bundle", "bündel 1.json"]
        assert odd.run("evaluate", task.name, kernel.name, *arguments, code=0).json["status"] == "passed"
    model = ScriptedModel(tmp_path / "model")
    model.code(1, "good")
    budget = ["--attempts", "1", "--no-compile-baseline", "--no-call", "--no-lint"]
    ran = odd.run("optimize", task.name, "--strategy", "n-pragma", "--model", model.spec, *budget, "--home", "heim ü", "--out", "schnell 'ü'", "--json", code=0)
    assert ran.json["exported"] and all(pathlib.Path(folder / name).exists() for name in ran.json["exported"])
    assert odd.run("recheck", "bündel 1.json", "--no-timing", "--json", code=0).json["verdict"].startswith("confirmed")


def test_a_locale_with_decimal_commas(tmp_path, home):
    locales = tmp_path / "locales"
    locales.mkdir()
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", locales / "de_DE.UTF-8"], capture_output=True)
    if made.returncode != 0:
        pytest.skip("localedef cannot make de_DE.UTF-8 here")
    german = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LOCPATH": str(locales)}
    program = Program(tmp_path)
    ran = program.run("evaluate", SCALE, GOOD, "--no-compile-baseline", "--home", home, "--json", **german, code=0)
    assert ran.json["timing"]["median_ms"] > 0
    text = program.run("evaluate", SCALE, GOOD, "--no-timing", "--home", home, **german, code=0).out
    assert "passed" in text


def test_compiler_messages_that_are_no_utf8(program, home):
    escaped = GOOD.read_text().replace("(void)scratch;", 'static_assert(sizeof(scratch) == 1, "zu gro\\xdf");')
    (program.folder / "escaped.cpp").write_text(escaped)
    (program.folder / "latin1.cpp").write_bytes(escaped.encode().replace(b"\\xdf", b"\xdf"))
    ran = program.run("evaluate", SCALE, "escaped.cpp", "latin1.cpp", "--no-timing", "--home", home, "--json", code=1)
    for result, status in zip(ran.json["evaluations"], ["compile_error", "rejected_source"], strict=True):
        assert result["status"] == status, result["reason"]
        assert "zu gro" in result["reason"] or "UTF-8" in result["reason"]


JUMPY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long jump(void) { static unsigned calls; return calls++ % 2 ? 3600 : -3600; }
int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, now);
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += jump();
  return result;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval* out, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
"""


def test_a_clock_that_jumps_an_hour_back_and_forth(program, own_home):
    (program.folder / "jumpy.c").write_text(JUMPY)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "jumpy.so", "jumpy.c", "-ldl"], cwd=program.folder, check=True)
    model = recovering_model(program.folder / "model")
    arguments = ["--strategy", "n-pragma", "--model", model.spec, "--attempts", "2", "--time", "10m", "--no-compile-baseline", "--no-call", "--no-lint"]
    ran = program.run("optimize", SCALE, *arguments, "--home", own_home, "--json", LD_PRELOAD=str(program.folder / "jumpy.so"), code=0)
    assert ran.json["attempts"] == 2 and ran.json["stopped"] == "budget"
    assert 0 < ran.json["spent"]["seconds"] < 600


def test_two_searches_at_once_on_one_store(program, own_home):
    models = [recovering_model(program.folder / name) for name in ("one", "two")]
    budget = ["--attempts", "2", "--no-compile-baseline", "--no-call", "--no-lint"]
    started = [program.start("optimize", SCALE, "--strategy", "n-pragma", "--model", model.spec, *budget, "--home", own_home, "--json") for model in models]
    ended = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0, 0], ended
    runs = {json.loads(out)["run"] for out, _ in ended}
    listed = program.run("runs", "--home", own_home, "--json", code=0).json["runs"]
    assert len(runs) == 2 and runs == {run["run"] for run in listed}
    assert [json.loads(out)["attempts"] for out, _ in ended] == [2, 2]


# --- the user's own kernel and environment ---


def test_a_search_begins_with_the_users_own_kernel(program, own_home):
    mine = GOOD.read_text().replace("(void)scratch;", "(void)scratch;  // mine")
    (program.folder / "mine.cpp").write_text(mine)
    model = ScriptedModel(program.folder / "model")
    model.advice(2, "subtract instead")
    model.code(2, "wrong")
    arguments = ["--strategy", "n-pragma", "--model", model.spec, "--attempts", "2", "--no-compile-baseline", "--no-call", "--no-lint", "--home", own_home]
    ran = program.run("optimize", SCALE, "--start", "mine.cpp", *arguments, "--json", code=0)
    assert "// mine" in model.prompt("coder", 2)
    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    assert [trial["evaluation"]["status"] for trial in shown["trials"]] == ["passed", "wrong_values"]
    assert shown["trials"][0]["author"] == "mine.cpp" and shown["best"] == 1
    assert ran.json["best"]["status"] == "passed"


def test_a_start_in_another_language_is_refused(program, home):
    (program.folder / "mine.cu").write_text("int x;\n")
    ran = program.run("optimize", SCALE, "--start", "mine.cu", "--home", home)
    assert "--target" in ran.assert_one_clear_error(2)


def python_of(program, **variables) -> str:
    items = program.run("doctor", "--json", **variables).json["items"]
    return next(item["detail"] for item in items if item["item"] == "python and torch").split(":")[0]


def test_the_active_environment_is_used_if_it_has_torch(program):
    packages = program.folder / "mine" / "lib" / "python3.11" / "site-packages"
    (packages / "torch").mkdir(parents=True)
    python = program.folder / "mine" / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    active = {"VIRTUAL_ENV": str(program.folder / "mine")}
    assert python_of(program, **active) == str(python)
    assert python_of(program, PRAGMA_PYTHON=sys.executable, **active) == sys.executable
    (packages / "torch").rmdir()
    assert python_of(program, **active) != str(python)


def test_an_environment_elsewhere_with_packages_elsewhere(program, home):
    import torch

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "mine"], cwd=program.folder, check=True)
    (packages,) = (program.folder / "mine").glob("lib/python3*/site-packages")
    (packages / "shared.pth").write_text(f"{pathlib.Path(torch.__file__).parents[1]}\n")
    for jail in ["full", "reduced"]:
        arguments = ["--python", "mine/bin/python", "--home", home, "--no-timing", "--jail", jail, "--json"]
        assert program.run("evaluate", SCALE, GOOD, *arguments, code=0).json["status"] == "passed"


def test_local_imports_are_found_and_travel_with_the_evidence(program, home):
    project = program.folder / "project"
    (project / "parts").mkdir(parents=True)
    (project / "parts" / "__init__.py").write_text("from .gain import Gain\n")
    (project / "parts" / "gain.py").write_text(SCALE.read_text().replace("class Model", "class Gain"))
    (project / "model.py").write_text(
        "import torch\nfrom parts import Gain\n\n\nclass Model(Gain):\n    pass\n\n\n"
        "def get_inputs():\n    return [torch.rand(64, 96)]\n\n\ndef get_init_inputs():\n    return [96]\n"
    )
    program.run("evaluate", "project/model.py", GOOD, "--no-timing", "--home", home, "--bundle", "b.json", code=0)
    assert set(json.loads((program.folder / "b.json").read_text())["task"]["files"]) == {"parts/__init__.py", "parts/gain.py"}
    shutil.rmtree(project)
    assert program.run("recheck", "b.json", "--no-timing", "--json", code=0).json["verdict"] == "confirmed"
