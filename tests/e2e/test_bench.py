"""bench: strategies, models, repeats and jobs over a suite, with a model that is a script."""

import json
import math
import signal

import pytest
from conftest import LIMIT_SECONDS, SIGINT_EXIT, TASKS, ScriptedModel, wait_for
from shared import copied_home

SCALE = TASKS / "scale.py"
QUICK = ["--no-compile-baseline", "--no-call"]


@pytest.fixture
def suite(program):
    """Two tasks that the scripted kernels solve, of one text, and one without a Model."""
    folder = program.folder / "suite"
    folder.mkdir()
    for name in ("1_scale", "2_scale"):
        (folder / f"{name}.py").write_text(SCALE.read_text())
    (folder / "3_no_model.py").write_text((TASKS / "no_model.py").read_text())
    return folder


def failing_model(folder):
    """A compile error, then wrong values: nothing is timed."""
    scripted = ScriptedModel(folder)
    scripted.code(1, "compile_error")
    scripted.advice(2, "spell the argument as it is declared")
    scripted.code(2, "wrong")
    return scripted


@pytest.fixture
def failing(tmp_path):
    return failing_model(tmp_path / "failing")


def bench(program, suite, model, home, *more, **options):
    return program.run("bench", suite, "--model", model.spec, "--home", home, *QUICK, *more, **options)


def story(result):
    """What must be the same however a benchmark was run: everything but times."""
    keys = ("task", "strategy", "model", "repeat", "state", "attempts", "stopped", "signature", "lint", "category", "problem")
    return [{key: row[key] for key in keys} for row in result["tasks"]]


def test_a_suite_is_run_once_reported_and_kept(program, suite, model, own_home):
    arguments = [suite, model, own_home, "--attempts", "3", "--jobs", "2"]
    ran = bench(program, *arguments, "--json", code=0)
    first = ran.json
    assert [(row["task"], row["state"]) for row in first["tasks"]] == [
        ("1_scale", "passed"),
        ("2_scale", "passed"),
        ("3_no_model", "task_error"),
    ]
    assert "Model" in first["tasks"][2]["problem"]
    assert not any(row["kept"] for row in first["tasks"])
    check_row(first["tasks"][0], model)
    check_arm(first["strategies"]["n-pragma"])
    assert first["budget"] == "attempts: 3 for every run"
    progress = [line.split(": ")[1] for line in ran.err.splitlines() if "attempt 3/3" in line]
    assert sorted(progress) == ["1_scale, n-pragma", "2_scale, n-pragma"]  # every line names its run
    assert "[3/3]" in ran.err

    asked = len(model.asked)
    second = bench(program, *arguments, "--json", code=0).json
    assert [row["kept"] for row in second["tasks"]] == [True, True, False]
    assert story(second) == story(first)
    table = bench(program, *arguments, code=0, COLUMNS="140").out
    for part in ["All tasks", "Tasks whose lint is sound alone", "fast_1.5", "By category", "attempts: 3 for every run"]:
        assert part in table, table
    again = bench(program, *arguments, "--remeasure", "--tasks", "1,3", "--json", code=0).json
    assert story(again) == [row for row in story(first) if row["task"] != "2_scale"]
    assert not any(row["kept"] for row in again["tasks"])
    assert again["tasks"][0]["bundle"] != first["tasks"][0]["bundle"]  # evidence of another judgement
    assert bench(program, *arguments, "--json", code=0).json["tasks"][0]["bundle"] == again["tasks"][0]["bundle"]
    assert len(model.asked) == asked


def test_rows_recorded_on_another_machine(program, suite, failing, own_home):
    """Another one that the store knows: this machine's own name says what it would run."""
    arguments = ["--attempts", "1", "--tasks", "1,2", "--json"]
    bench(program, suite, failing, own_home, "--attempts", "1", "--tasks", "1", code=0)
    error = bench(program, suite, failing, own_home, *arguments, "--recorded-on", "moon/2").assert_one_clear_error(2)
    assert error.startswith("--recorded-on 'moon/2': nothing was recorded there; this --home has ")
    machine = error.split()[-1].removesuffix(".")
    asked = len(failing.asked)
    error = bench(program, suite, failing, own_home, *arguments, "--recorded-on", machine, "--remeasure").assert_one_clear_error(2)
    assert "--remeasure" in error and "--recorded-on" in error
    rows = bench(program, suite, failing, own_home, *arguments, "--recorded-on", machine, code=0).json["tasks"]
    assert [(row["task"], row["state"], row["kept"]) for row in rows] == [("1_scale", "no kernel passed", True)]
    assert len(failing.asked) == asked  # the second task was not run


def check_row(row, model):
    assert (row["category"], row["lint"], row["repeat"], row["model"]) == ("other", "sound", 1, model.spec)
    assert [point["status"] for point in row["curve"]] == ["compile_error", "passed", "wrong_values"]
    assert row["curve"][0]["best"] is None and row["curve"][2]["best"] == row["curve"][1]["best"] > 0
    tokens = [point["tokens"] for point in row["curve"]]
    assert tokens == sorted(tokens) and tokens[0] > 0
    assert row["paper_timing"] is None


def check_arm(arm):
    assert (arm["tasks"], arm["solved"], arm["task_errors"]) == (3, 2, 1)
    assert math.isclose(arm["success"], 2 / 3)
    assert list(arm["fast_p"]) == ["0.0", "0.5", "0.8", "1.0", "1.5", "2.0"]
    assert arm["fast_p"]["0.0"] == arm["success"]
    assert arm["fast_p_compile"] is None  # not measured
    assert arm["attempts"] == {"count": 6, "compile_rate": 4 / 6, "correct_rate": 2 / 6}
    assert arm["sound"]["success"] == 1 and arm["sound"]["tasks"] == 2  # the broken task is not sound
    assert [point["at"] for point in arm["best_so_far"]["attempts"]] == [1, 2, 3]
    assert arm["best_so_far"]["attempts"][0]["solved"] == 0
    assert math.isclose(arm["best_so_far"]["attempts"][2]["solved"], 2 / 3)
    assert arm["by_category"]["other"]["solved"] == 2


def test_jobs_give_the_same_rows_in_the_same_order(program, suite, home, tmp_path):
    """Strategies and models one at a time, and four at a time in another store."""
    results = []
    for jobs in ("1", "4"):
        folder = tmp_path / f"jobs-{jobs}"
        folder.mkdir()
        copied_home(home, folder / "home")
        models = [failing_model(folder / name) for name in ("first", "second")]
        named = [word for model in models for word in ("--model", model.spec)]
        more = [*QUICK, "--strategy", "n-pragma,sampling", "--attempts", "2", "--jobs", jobs, "--json"]
        ran = program.run("bench", suite, "--tasks", "1,3", *named, *more, "--home", folder / "home", code=0)
        results.append(ran.json)
        assert all(len(model.asked) == 3 + 2 for model in models)
    spoken = [json.dumps(story(result)).replace("jobs-1", "jobs-4") for result in results]
    assert spoken[0] == spoken[1]
    arms = list(results[1]["strategies"])
    assert [arm.split(" @ ")[0] for arm in arms] == ["n-pragma", "n-pragma", "sampling", "sampling"]
    assert len(results[1]["comparisons"]) == 6
    pair = results[1]["comparisons"][0]
    assert (pair["tasks"], pair["solved_by_both"], pair["sound"]["tasks"]) == (2, 0, 1)


def test_budgets(program, suite, failing, own_home):
    def fails(*more):
        return bench(program, suite, failing, own_home, *more).assert_one_clear_error(2)

    paper = bench(program, suite, failing, own_home, "--strategy", "caesar,sampling", "--budget", "paper", "--tasks", "3", "--json", code=0)
    assert "each its paper's own" in paper.json["budget"]
    equal = bench(program, suite, failing, own_home, "--tasks", "3", "--json", code=0)
    assert equal.json["budget"] == "attempts: 15 for every run"
    assert "write a number of attempts, or paper" in fails("--budget", "many")
    assert "names 'caesar' twice" in fails("--strategy", "caesar,caesar")
    assert "names '" + failing.spec + "' twice" in fails("--model", failing.spec)


def test_a_spent_total_begins_no_further_run_and_a_raised_one_goes_on(program, suite, failing, own_home):
    arguments = [suite, failing, own_home, "--attempts", "2", "--tasks", "1,2", "--json"]
    little = bench(program, *arguments, "--total-tokens", "10", code=0).json
    assert [(row["task"], row["attempts"], row["stopped"]) for row in little["tasks"]] == [("1_scale", 1, "budget")]
    assert len(little["not_begun"]) == 1 and little["not_begun"][0].startswith("2_scale")
    more = bench(program, *arguments, "--total-tokens", "1000000", code=0).json
    assert [(row["task"], row["attempts"]) for row in more["tasks"]] == [("1_scale", 2), ("2_scale", 2)]
    assert more["not_begun"] == []
    assert sorted(failing.asked) == sorted(["coder-1", "conductor-2", "coder-2"] * 2)


def test_ctrl_c_keeps_what_was_done(program, suite, failing, own_home):
    hanging = failing.hang_at("conductor", 2)
    command = ["bench", suite, "--model", failing.spec, "--attempts", "2", "--jobs", "2", "--home", own_home, *QUICK, "--json"]
    process = program.start(*command)
    wait_for(hanging, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == SIGINT_EXIT, err
    assert json.loads(out)["interrupted"] is True
    failing.answer_at("conductor", 2)
    result = program.run(*command, code=0).json
    assert [row["state"] for row in result["tasks"]] == ["no kernel passed", "no kernel passed", "task_error"]
    assert failing.asked.count("coder-1") == 2


def test_repeats_are_runs_of_their_own(program, suite, failing, own_home):
    ran = bench(program, suite, failing, own_home, "--attempts", "2", "--tasks", "1", "--repeats", "2", "--jobs", "2", "--json", code=0)
    rows = ran.json["tasks"]
    assert [row["repeat"] for row in rows] == [1, 2] and rows[0]["run"] != rows[1]["run"]
    assert ran.json["strategies"]["n-pragma"]["pass_at_k"]["repeats"] == {"over": "repeats of a task", "1": 0, "2": 0}


def test_a_task_stays_open_for_its_next_run(program, suite, failing, own_home):
    repeats = ["--attempts", "1", "--tasks", "1,2", "--repeats", "2", "--json"]
    ran = bench(program, suite, failing, own_home, *repeats, code=0, PRAGMA_LOG="debug")
    assert [row["attempts"] for row in ran.json["tasks"]] == [1, 1, 1, 1]
    assert [ran.err.count(f"{name}: still open") for name in ("1_scale", "2_scale")] == [1, 1]
