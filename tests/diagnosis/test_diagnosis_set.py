"""bench/diagnosis/: that the labelled set is whole, and that its runner judges answers as it says. Nothing is measured."""

import argparse
import ast
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import diagnosis  # noqa: E402

CASES = diagnosis.read_cases()
CLASSES = diagnosis.known_classes()


def test_the_set_is_large_and_wide_enough():
    assert len(CASES) >= 36
    assert len({case.cause for case in CASES}) >= 20


def test_the_design_names_the_classes():
    assert {"not_vectorised", "dram_latency", "at_bound"} <= CLASSES
    assert "uncoalesced" not in CLASSES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_has_a_known_cause_a_task_and_a_twin(case):
    assert case.answers <= CLASSES
    assert case.cause not in case.also
    assert case.twin.exists()
    assert case.task.exists()
    head = diagnosis.head_of(case.kernel)
    assert set(head) <= {"task", "cause", "also", "why", "pragma-flags", "pragma-compiler"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_twin_tells_what_it_changes_and_not_the_cause(case):
    lines = case.twin.read_text().splitlines()
    assert lines[0].startswith(f"// Twin of {case.kernel.name}: ")
    assert lines[1].startswith("// pragma-flags: ")
    assert lines[2:] != case.kernel.read_text().splitlines()[len(diagnosis.head_of(case.kernel)):] or (
        lines[1] != f"// pragma-flags: {diagnosis.head_of(case.kernel)['pragma-flags']}")


def test_no_twin_and_no_task_is_left_over():
    kernels = {path.name for path in (diagnosis.FOLDER / "kernels").iterdir()}
    assert kernels == {c.kernel.name for c in CASES} | {c.twin.name for c in CASES}
    assert {path.name for path in (diagnosis.FOLDER / "tasks").glob("*.py")} == {c.task.name for c in CASES}


@pytest.mark.parametrize("task", sorted({case.task for case in CASES}), ids=lambda path: path.stem)
def test_a_task_is_one_in_kernelbenchs_format(task):
    tree = ast.parse(task.read_text())
    names = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert {"Model", "get_inputs", "get_init_inputs"} <= names
    assert ast.get_docstring(tree)


# --- reading --------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "tasks").mkdir()

    def write(name, head):
        kernel = tmp_path / "kernels" / f"{name}.cpp"
        kernel.write_text(head + "int x;\n")
        kernel.with_name(name + ".fixed.cpp").write_text("// twin\n")
        (tmp_path / "tasks" / "t.py").write_text("")
        return kernel

    vars(write)["path"] = tmp_path
    return write


HEAD = "// task: t\n// cause: spills\n// also: gather, l1_bound\n// why: so\n// pragma-flags: -O2\n"


def test_reads_a_head(folder):
    folder("a", HEAD)
    (case,) = diagnosis.read_cases(folder.path)
    assert (case.name, case.cause, case.also, case.why) == ("a", "spills", {"gather", "l1_bound"}, "so")
    assert case.task == folder.path / "tasks" / "t.py"


@pytest.mark.parametrize("key", ["task", "cause", "why", "pragma-flags"])
def test_a_head_that_lacks_a_line_is_refused(folder, key):
    folder("a", "".join(line + "\n" for line in HEAD.splitlines() if not line.startswith(f"// {key}:")))
    with pytest.raises(ValueError, match=f"a.cpp: its head lacks {key}"):
        diagnosis.read_cases(folder.path)


# --- judging --------------------------------------------------------------------------------------


@pytest.fixture
def case(folder):
    return diagnosis.read_case(folder("a", HEAD), folder.path)


def answer(*classes, predicted=2.0, twin=None):
    found = [{"class": name, "score": 0.5, "predicted": predicted, "evidence": ["seen"]} for name in classes]
    result = {"kernel": "a", "profile": {"found": found, "failure": None}}
    return result | ({"twin": twin} if twin else {})


@pytest.mark.parametrize("classes, rank", [
    (["spills"], 1), (["tlb", "spills"], 2), (["tlb", "at_bound", "spills"], 3), (["gather", "spills"], 1),
    (["tlb"], 0), ([], 0), (["tlb", "at_bound", "imbalance", "spills"], 0)])
def test_the_rank_of_the_true_cause(case, classes, rank):
    assert diagnosis.rank_of(case, answer(*classes)) == rank


@pytest.mark.parametrize("predicted, interval, right", [
    (2.0, [1.4, 1.6], True), (2.0, [0.9, 1.6], False), (1.0, [0.9, 1.1], True), (1.0, [1.4, 1.6], False)])
def test_the_direction_of_the_prediction(case, predicted, interval, right):
    result = answer("spills", predicted=predicted, twin={"median": 1.5, "ci95": interval})
    assert diagnosis.direction_is_right(case, result) is right


def test_no_direction_without_both_sides(case):
    twin = {"median": 1.5, "ci95": [1.4, 1.6]}
    assert diagnosis.direction_is_right(case, answer("tlb", twin=twin)) is None
    assert diagnosis.direction_is_right(case, answer("spills")) is None
    assert diagnosis.direction_is_right(case, answer("spills", twin={"failure": "crashed: so"})) is None


def test_totals_count_what_is_there(case):
    twin = {"median": 1.5, "ci95": [1.4, 1.6]}
    results = [answer("spills", twin=twin), answer("tlb", "gather", twin=twin), answer()]
    lines = diagnosis.totals([case] * 3, results)
    assert lines[0] == "True cause first in 1 of 3 kernels, among the first three in 2 of 3."
    assert lines[2].endswith("in 2 of 2.")


def test_the_report_names_failures_and_misses(case, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["diagnosis.py"])
    failed = answer() | {"profile": {"found": [], "failure": "compile_error: a | b"}}
    out = tmp_path / "out.md"
    diagnosis.report(out, diagnosis.FOLDER, [case, case], [answer("spills"), failed])
    text = out.read_text()
    assert "| a | spills or gather or l1_bound | spills | 1 | 2.00 | - | - |" in text
    assert "compile_error: a / b" in text
    assert "- a: spills, for so. Said first: nothing." in text


# --- asking, with programs that answer as told ----------------------------------------------------


@pytest.fixture
def program(tmp_path):
    def write(text):
        path = tmp_path / "program"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def options(tmp_path):
    return argparse.Namespace(home=tmp_path / "home", limit=20, no_twin=False, diagnose_again=False, resume=tmp_path / "kept.jsonl")


DIAGNOSIS = {"diagnosis": [{"class": "spills", "score": 0.4, "evidence": ["e"], "predicted_speedup": 1.7}]}


@pytest.mark.parametrize("wrap", [lambda body: body, lambda body: {"schema": 1, "profile": body}])
def test_takes_the_diagnosis_from_either_place(case, program, options, wrap):
    ran = diagnosis.profile(program(f"echo '{json.dumps(wrap(DIAGNOSIS))}'"), case, options)
    assert ran["failure"] is None
    assert [(d["class"], d["predicted"]) for d in ran["found"]] == [("spills", 1.7)]


@pytest.mark.parametrize("script, said", [
    ("echo '{\"evaluate\": {\"status\": \"compile_error\", \"reason\": \"no semicolon\"}}'; exit 1", "no semicolon"),
    ("echo 'no such option' >&2; exit 2", "no such option"), ("echo '{broken'; exit 3", "exit 3")])
def test_a_profile_that_fails_is_a_row_that_says_so(case, program, options, script, said):
    ran = diagnosis.profile(program(script), case, options)
    assert ran["found"] == []
    assert said in ran["failure"]


def test_a_program_that_hangs_is_given_up(case, program, options):
    options.limit = 0.2
    assert "not done" in diagnosis.profile(program("exec sleep 60"), case, options)["failure"]


def test_the_twin_is_timed_against_the_slow_kernel(case, program, options):
    script = f'test "$3" = {case.twin} && test "$4" = --against && test "$5" = {case.kernel} || exit 2\n'
    script += 'echo \'{"status": "passed", "speedup": {"eager": {"median": 9}, "best": {"median": 3, "ci95": [2.5, 3.5]}}}\''
    assert diagnosis.compare(program(script), case, options) == {"median": 3, "ci95": [2.5, 3.5]}


def test_a_resumed_run_asks_only_for_what_is_missing_or_failed(case, program, options, tmp_path):
    asked = tmp_path / "asked"
    script = f"echo $1 >> {asked}\n"
    script += 'test "$1" = evaluate && echo \'{"status": "crashed", "reason": "signal"}\' && exit 1\n'
    script += f"echo '{json.dumps(DIAGNOSIS)}'"
    first = diagnosis.run_all(program(script), [case], options)
    assert first[0]["twin"] == {"failure": "crashed: signal"}
    again = diagnosis.run_all(program(script), [case], options)
    assert asked.read_text().split() == ["profile", "evaluate", "evaluate"]
    assert again[0]["profile"] == first[0]["profile"]


def test_a_changed_source_is_measured_anew(case, program, options, tmp_path):
    asked = tmp_path / "asked"
    options.no_twin = True
    script = program(f"echo $1 >> {asked}\necho '{json.dumps(DIAGNOSIS)}'")
    diagnosis.run_all(script, [case], options)
    case.kernel.write_text(case.kernel.read_text() + "// changed\n")
    diagnosis.run_all(script, [case], options)
    assert asked.read_text().split() == ["profile", "profile"]
