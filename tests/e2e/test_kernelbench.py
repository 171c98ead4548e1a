"""bench --kernelbench-out and --evaluate-only: KernelBench's files, written and judged again.

PRAGMA_KERNELBENCH names a checkout of KernelBench: then its own analysis script reads the files.
Without it they are held against the names and types below.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import sys
import types
from typing import Any

import pytest
from conftest import KERNELS, TASKS, Program
from shared import copied_home

QUICK = ["--no-compile-baseline", "--no-call"]
STATS = {"mean": float, "std": float, "min": float, "max": float, "num_trials": int, "hardware": str, "device": str}
SAMPLE = {"sample_id": int, "compiled": bool, "correctness": bool, "metadata": dict, "runtime": float, "runtime_stats": dict}
ANALYSIS = {
    "run_name": str,
    "level": int,
    "hardware": str,
    "total_count": int,
    "total_eval": int,
    "compiled_count": int,
    "correct_count": int,
    "compilation_rate": float,
    "correctness_rate": float,
    "geo_mean_speedup": float,
    "fast_p": dict,
    "pass_at_k": dict,
}


def assert_form(value, form):
    assert list(value) == list(form)
    for name, kind in form.items():
        assert type(value[name]) is kind or (kind is float and type(value[name]) is int), (name, value[name])


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Program:
    """All tests work in one folder and one store, because judging the solutions takes long."""
    return Program(tmp_path_factory.mktemp("kernelbench"))


@pytest.fixture(scope="module")
def own_home(home, program):
    return copied_home(home, program.folder / "home")


@pytest.fixture(scope="module")
def checkout(program):
    """A suite in KernelBench's layout: three tasks of level 1."""
    level = program.folder / "checkout" / "KernelBench" / "level1"
    level.mkdir(parents=True)
    for name in ("1_scale", "2_scale", "3_scale"):
        (level / f"{name}.py").write_text((TASKS / "scale.py").read_text())
    return program.folder / "checkout"


@pytest.fixture(scope="module")
def written(program, checkout, own_home):
    """Two solutions of the three tasks, and a file that is none."""
    given = program.folder / "given"
    given.mkdir()
    for number, kernel in ((1, "good"), (2, "wrong")):
        shutil.copy(KERNELS / f"{kernel}.cpp", given / f"{number}_scale.cpp")
    (given / "notes.py").write_text("")
    ran = program.run(
        "bench", checkout, "--evaluate-only", given, "--kernelbench-out", "out", "--home", own_home, *QUICK, "--json", code=0
    )
    return ran, program.folder / "out"


def test_given_solutions_are_judged_and_their_files_written(program, written, checkout, own_home):
    ran, out = written
    assert [(row["task"], row["state"]) for row in ran.json["tasks"]] == [
        ("1_scale", "passed"),
        ("2_scale", "wrong_values"),
        ("3_scale", "none given"),
    ]
    assert "notes.py fits no selected task" in ran.err
    arm = ran.json["strategies"]["given"]
    assert arm["success"] == arm["fast_p"]["0.0"] == 1 / 3
    paper = ran.json["tasks"][0]["paper_timing"]
    assert paper["subject"] == "kernel" and paper["candidate"]["calls"] == 100
    assert paper["speedup_eager"] == pytest.approx(paper["eager"]["mean_ms"] / paper["candidate"]["mean_ms"])
    check_files(out, paper)
    kept = program.run(
        "bench", checkout, "--evaluate-only", "given", "--kernelbench-out", "out", "--home", own_home, *QUICK, code=0
    )
    assert kept.err.count("kept from before") == 2
    assert "By the paper's protocol" in kept.out and "none given" in kept.out


def check_files(out, paper):
    run = out / "runs" / "given"
    assert sorted(path.name for path in run.iterdir()) == [
        "analysis.json",
        "eval_results.json",
        "level_1_problem_1_sample_0_kernel.py",
        "pass_at_k_results.json",
    ]
    assert "class ModelNew" in (run / "level_1_problem_1_sample_0_kernel.py").read_text()
    results = json.loads((run / "eval_results.json").read_text())
    assert list(results) == ["1", "2", "3"]
    for samples in results.values():
        assert_form(samples[0], SAMPLE)
    assert results["1"][0]["runtime"] == paper["candidate"]["mean_ms"]
    assert_form(results["1"][0]["runtime_stats"], STATS)
    assert [results[key][0]["compiled"] for key in results] == [True, True, False]
    assert [results[key][0]["correctness"] for key in results] == [True, False, False]
    analysis = json.loads((run / "analysis.json").read_text())
    assert_form(analysis, ANALYSIS)
    assert analysis["geo_mean_speedup"] == pytest.approx(paper["speedup_eager"])
    (baseline,) = out.glob("results/timing/*/baseline_time_torch_cpu.json")
    entries = json.loads(baseline.read_text())["level1"]
    assert list(entries) == ["1_scale.py", "2_scale.py", "3_scale.py"]  # unsolved ones, too
    for entry in entries.values():
        assert_form(entry, STATS)


def official_analysis(checkout, out, name):
    """KernelBench's own function on our files; its level holds the tasks of `out` alone."""
    source = pathlib.Path(os.environ["PRAGMA_KERNELBENCH"])
    (baseline,) = out.glob("results/timing/*/baseline_time_torch_cpu.json")
    # What the script only needs to print tables and read a command line with.
    stubs: dict[str, dict[str, object]] = {"tabulate": {"tabulate": lambda *_, **__: ""}, "pydra": {"Config": object, "REQUIRED": None, "main": lambda base: lambda f: f}}
    for module, names in stubs.items():
        if importlib.util.find_spec(module) is None:
            sys.modules[module] = types.ModuleType(module)
            vars(sys.modules[module]).update(names)
    package = types.ModuleType("kernelbench")
    package.__path__ = [str(source / "src" / "kernelbench")]  # without importing what needs a GPU
    sys.modules["kernelbench"] = package
    dataset = importlib.import_module("kernelbench.dataset")
    spec = importlib.util.spec_from_file_location("analysis", source / "scripts" / "benchmark_eval_analysis.py")
    assert spec is not None and spec.loader is not None
    script: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    base = str(checkout / "KernelBench")
    script.construct_kernelbench_dataset = lambda level: dataset.construct_kernelbench_dataset(level, base_path=base)
    return script.analyze_greedy_eval(
        name, "here", "ours", 1, baseline_file=str(baseline), eval_results_dir=str(out / "runs")
    )


@pytest.mark.skipif("PRAGMA_KERNELBENCH" not in os.environ, reason="PRAGMA_KERNELBENCH names no checkout")
def test_kernelbenchs_own_script_reads_them_and_agrees(written, checkout):
    _, out = written
    theirs = official_analysis(checkout, out, "given")
    ours = json.loads((out / "runs" / "given" / "analysis.json").read_text())
    assert list(theirs) == list(ours)
    for name in ("total_count", "compiled_count", "correct_count", "correctness_rate", "fast_p"):
        assert theirs[name] == ours[name], name
    assert theirs["geo_mean_speedup"] == pytest.approx(ours["geo_mean_speedup"])


def test_what_was_written_is_judged_again(program, checkout, own_home, written):
    """A run folder of KernelBench's layout, with ModelNew: through the Python jail."""
    _, out = written
    ran = program.run(
        "bench", checkout, "--tasks", "1", "--evaluate-only", out / "runs", "--home", own_home, *QUICK, "--json", code=0
    )
    (row,) = ran.json["tasks"]
    assert (row["strategy"], row["state"]) == ("given", "passed")
    assert row["best"]["environment"]["trust"].startswith("weaker")


def test_errors_name_what_to_do(program, checkout, own_home):
    empty = program.folder / "empty"
    empty.mkdir()
    fails = program.run("bench", checkout, "--evaluate-only", empty, "--home", own_home)
    assert "name solutions as the task" in fails.assert_one_clear_error(2)
    other = program.folder / "other"
    for name in ("a/1_x.py", "b/1_y.py"):
        (other / name).parent.mkdir(parents=True)
        (other / name).write_text("")
    fails = program.run("bench", other, "--kernelbench-out", "out", "--model", "command:true", "--home", own_home)
    assert "both have the number 1" in fails.assert_one_clear_error(2)
