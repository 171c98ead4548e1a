"""evaluate: every way a candidate or a task can end."""

import json
import shutil

import pytest
from conftest import KERNELS, TASKS, Program

SCALE = TASKS / "scale.py"
# Else torch is imported a second time, for the processes that time it, which these do not come to.
SHORT = ["--no-timing"]


@pytest.mark.parametrize(
    "task, parts",
    [
        ("missing.py", ["no such task file: ", "missing.py"]),
        ("no_model.py", ["no_model.py", "Model"]),
        ("syntax_error.py", ["syntax_error.py", "not valid Python"]),
        ("inputs_raise.py", ["get_inputs", "FileNotFoundError", "weights.bin is not here"]),
        ("no_tensor.py", ["no_tensor.py", "returns no tensor"]),
        ("too_large.py", ["too_large.py", "TiB"]),
    ],
)
def test_a_bad_task_gets_one_clear_line(program, home, task, parts):
    ran = program.run("evaluate", TASKS / task, KERNELS / "good.cpp", "--home", home, "--json", *SHORT)
    message = ran.assert_one_clear_error(2)
    for part in parts:
        assert part in message, message
    assert ran.json["status"] == "task_error"
    # What the task raised follows with the last lines of its traceback.
    assert ran.json["reason"].splitlines()[0] == message


def test_a_task_that_takes_too_long_is_ended(program, home):
    ran = program.run("evaluate", TASKS / "too_slow.py", KERNELS / "good.cpp", "--home", home, "--task-limit", "5s", *SHORT)
    assert "too_slow.py" in ran.assert_one_clear_error(2)


@pytest.mark.parametrize(
    "candidate, part",
    [
        ("missing.cpp", "missing.cpp"),
        ("kernel.f90", "a candidate is a .cpp, .cu or .py file"),
        (".", "no candidate.json"),
    ],
)
def test_a_bad_candidate_path_gets_one_clear_line(program, candidate, part):
    assert part in program.run("evaluate", SCALE, candidate).assert_one_clear_error(2)


def test_a_good_kernel(timed_fully):
    result = timed_fully.json
    assert result["schema"] == 1
    assert result["status"] == "passed"
    assert result["task"]["name"] == "scale"
    assert result["candidate"]["language"] == "cpp"
    assert result["candidate"]["flags"] == ["-O3", "-march=native", "-fopenmp"]
    assert {check["verdict"] for check in result["checks"]} <= {"pass", "note", "skipped"}
    assert result["error"]["max_abs"] < 1e-5
    assert result["official"]["correct"] is True
    low, high = result["timing"]["ci95_ms"]
    assert 0 < low <= result["timing"]["median_ms"] <= high
    for baseline in ["eager", "compile"]:
        assert result["baseline"][baseline]["median_ms"] > 0
        low, high = result["speedup"][baseline]["ci95"]
        assert low <= result["speedup"][baseline]["median"] <= high
    load = result["load"]
    assert load["bursts"] >= load["disturbed"] >= 0 and load["seconds"] > 0
    assert result["noisy"] is None or "other programs" in result["noisy"]
    assert result["environment"]["trust"] == "isolated"
    assert "seccomp" in " ".join(result["environment"]["protections"])
    assert result["seed"]
    assert {"build", "verify", "time"} <= set(result["phases_ms"])


def test_the_figure_of_a_call(timed_fully):
    result = timed_fully.json
    assert result["call"]["over"] in ("eager", "torch.compile")
    assert result["call"]["trust"] == "weaker (python)"
    low, high = result["speedup"]["call"]["ci95"]
    assert 0 < low <= result["speedup"]["call"]["median"] <= high
    assert {check["name"]: check["verdict"] for check in result["checks"]}["call"] == "pass"
    # The kernel's own verdict keeps its trust.
    assert result["environment"]["trust"] == "isolated"


def test_the_table_for_people(timed_fully):
    out = timed_fully.out
    assert out.startswith("passed  scale (")
    for part in ["torch eager", "faster by [95 %]", "kernel alone", "ModelNew called from Python", "roofline", "% reached", "environment", "trust", "seed"]:
        assert part in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100


def test_repetitions_on_one_warm_reference(program, home):
    ran = program.run("evaluate", SCALE, KERNELS / "good.cpp", "--home", home, "--no-timing", "--repeat", "3", "--json", code=0)
    assert [run["status"] for run in ran.json["runs"]] == ["passed"] * 3
    assert len({run["seed"] for run in ran.json["runs"]}) == 3
    assert "timing" not in ran.json or ran.json["timing"] is None


# kernel: the status, and a part of the reason or of a diagnostic
BAD = {
    "wrong": ("wrong_values", "out"),
    "last_row_missing": ("wrong_values", "out"),
    "compile_error": ("compile_error", "gian"),
    "crash": ("crashed", "SIGSEGV"),
    "leaves": ("rejected_source", "exit"),
    "forbidden_symbol": ("rejected_source", "fopen"),
    "forbidden_flag": ("rejected_source", "-fplugin"),
    "forbidden_call": ("sandbox_violation", "system call"),
    "out_of_memory": ("out_of_memory", "memory"),
    "endless": ("timeout", "limit"),
}


@pytest.fixture(scope="module")
def bad_kernels(home, tmp_path_factory) -> dict[str, dict]:
    """All are judged by one command, on one reference."""
    files = [KERNELS / f"{kernel}.cpp" for kernel in BAD]
    program = Program(tmp_path_factory.mktemp("bad"))
    ran = program.run("evaluate", SCALE, *files, "--home", home, "--run-limit", "5s", "--json", *SHORT, code=1)
    return dict(zip(BAD, ran.json["evaluations"], strict=True))


@pytest.mark.parametrize("kernel", BAD)
def test_every_bad_kernel_is_a_verdict(bad_kernels, kernel):
    result = bad_kernels[kernel]
    status, part = BAD[kernel]
    assert result["status"] == status, result["reason"]
    assert part in result["reason"] + json.dumps(result.get("diagnostics", []))


def test_a_bad_kernel_alone_is_a_verdict_and_an_exit_code(program, home):
    ran = program.run("evaluate", SCALE, KERNELS / "wrong.cpp", "--home", home, "--json", *SHORT, code=1)
    assert ran.json["status"] == "wrong_values"


def test_positions_may_be_those_of_torchs_own_rounding(program, home):
    arguments = ["--no-timing", "--home", home, "--json"]
    ran = program.run("evaluate", TASKS / "near_ties.py", KERNELS / "near_ties.cpp", *arguments)
    assert ran.json["status"] == "passed", ran.json["reason"]


def test_a_folder_with_candidate_json(program, home):
    folder = program.folder / "candidate"
    folder.mkdir()
    shutil.copy(KERNELS / "good.cpp", folder / "kernel.cpp")
    (folder / "candidate.json").write_text(json.dumps({"language": "cpp", "flags": ["-O2"], "files": ["kernel.cpp"]}))
    ran = program.run("evaluate", SCALE, folder, "--home", home, "--no-timing", "--json", code=0)
    assert ran.json["candidate"]["flags"] == ["-O2"]


def test_a_request_file_and_its_result_file(program, home):
    request = {
        "schema": 1,
        "task": {"name": "scale", "source": SCALE.read_text()},
        "candidate": {"language": "cpp", "files": {"kernel.cpp": (KERNELS / "good.cpp").read_text()}},
        "against": {"path": str(KERNELS / "good.cpp")},
        "measure": "eager",
        "threads": 1,
    }
    (program.folder / "request.json").write_text(json.dumps(request))
    program.run("evaluate", "--request", "request.json", "--result", "result.json", "--home", home, code=0)
    result = json.loads((program.folder / "result.json").read_text())
    assert result["status"] == "passed"
    assert result["environment"]["threads"] == 1
    assert "median" in result["speedup"]["best"]


@pytest.mark.parametrize(
    "text, part",
    [
        ("[]", "not a JSON object"),
        ('{"schema": 2}', "schema"),
        ('{"schema": 1, "candidat": {}}', "did you mean 'candidate'?"),
        ('{"schema": 1, "candidate": {"path": "k.cpp"}}', 'no "task"'),
    ],
)
def test_bad_requests(program, text, part):
    (program.folder / "request.json").write_text(text)
    ran = program.run("evaluate", "--request", "request.json", "--result", "result.json")
    assert part in ran.assert_one_clear_error(2)
    assert part in json.loads((program.folder / "result.json").read_text())["failure"]["message"]
