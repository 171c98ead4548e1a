"""optimize, Ctrl-C, resume, replay, export: with a model that is a script."""

import json
import signal
import subprocess
import sys

from conftest import LIMIT_SECONDS, ROOT, SIGINT_EXIT, TASKS, wait_for

SCALE = TASKS / "scale.py"
QUICK = ["--no-compile-baseline", "--no-call"]


def optimize(program, model, home, *more, **options):
    return program.run(
        "optimize", SCALE, "--strategy", "n-pragma", "--model", model.spec, "--attempts", "3", "--home", home, *QUICK, *more, **options
    )


def test_the_loop_recovers_and_keeps_the_best(program, finished):
    result, own_home = finished.ran.json, finished.home
    assert result["attempts"] == 3
    assert result["stopped"] == "budget"
    assert result["best"]["status"] == "passed"
    assert result["best"]["speedup"]["eager"]["median"] > 0
    assert result["exported"] == []
    assert finished.model.asked[:5] == ["coder-1", "conductor-2", "coder-2", "conductor-3", "coder-3"]
    progress = [line for line in finished.ran.err.splitlines() if "attempt" in line]
    assert [("compile_error" in line, "passed" in line, "wrong_values" in line) for line in progress] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]

    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    assert [trial["evaluation"]["status"] for trial in shown["trials"]] == ["compile_error", "passed", "wrong_values"]
    assert shown["best"] == 2
    assert shown["calls"] == {"asked": 5, "reused": 0}
    assert len(shown["signature"]) == 64
    assert shown["final"]["status"] == "passed"

    table = program.run("show", "--home", own_home, COLUMNS="80", code=0).out
    assert "compile_error" in table and "2 ★" in table
    assert max(map(len, table.splitlines())) <= 80
    assert "gain[c] * x" in program.run("show", "last", "--node", "2", "--home", own_home, code=0).out
    assert "nodes are 1 to 3" in program.run("show", "last", "--node", "9", "--home", own_home).assert_one_clear_error(2)

    listed = program.run("runs", "--home", own_home, "--json", code=0).json
    assert [run["run"] for run in listed["runs"]] == [result["run"]]
    assert result["run"] in program.run("runs", "--home", own_home, code=0).out


def test_nothing_passes(program, model, own_home):
    for node in (1, 2, 3):
        model.code(node, "wrong")
    ran = optimize(program, model, own_home, "--json", code=1)
    assert ran.json["best"] is None


def test_a_task_with_dropout_is_refused(program, model, own_home):
    ran = program.run("optimize", TASKS / "dropout.py", "--strategy", "n-pragma", "--model", model.spec, "--home", own_home, *QUICK)
    assert "random" in ran.assert_one_clear_error(2)
    assert model.asked == []


def test_a_replay_grows_the_same_tree(program, finished):
    run = finished.run
    recorded = program.run("show", run, "--home", finished.home, "--json", code=0).json
    program.run("export", run, "--recording", "run.jsonl", "--home", finished.home, code=0)
    elsewhere = program.folder / "elsewhere"
    replayed = program.run("replay", "run.jsonl", "--home", elsewhere, "--json", code=0).json
    assert replayed["same_tree"] is True
    assert replayed["signature"] == recorded["signature"]
    again = program.run("show", "last", "--home", elsewhere, "--json", code=0).json
    assert again["signature"] == recorded["signature"]
    assert again["stopped"] == "budget"
    assert "no such recording" in program.run("replay", "missing.jsonl").assert_one_clear_error(2)


def test_a_remeasured_replay_shows_both_figures(program, finished):
    run = finished.run
    ran = program.run("replay", run, "--remeasure", "--no-compile-baseline", "--home", finished.home, COLUMNS="80", code=0)
    for part in ["recorded, vs eager", "here, vs eager", "★ 2", "Best: attempt 2", "where the time went"]:
        assert part in ran.out, ran.out
    figures = program.run("replay", run, "--remeasure", "--no-compile-baseline", "--home", finished.home, "--json", code=0).json
    assert [trial["fresh"]["status"] for trial in figures["trials"]] == ["compile_error", "passed", "wrong_values"]
    assert [trial["recorded"]["status"] for trial in figures["trials"]] == ["compile_error", "passed", "wrong_values"]
    assert figures["best"]["status"] == "passed"


def test_ctrl_c_keeps_the_best_and_resume_goes_on(program, model, own_home):
    hanging = model.hang_at("conductor", 3)
    process = program.start(
        "optimize", SCALE, "--strategy", "n-pragma", "--model", model.spec, "--attempts", "3", "--home", own_home, *QUICK, "--json"
    )
    wait_for(hanging, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == SIGINT_EXIT, err
    stopped = json.loads(out)
    assert stopped["stopped"] == "interrupted"
    assert stopped["attempts"] == 2
    assert stopped["best"]["status"] == "passed"
    assert f"pragma resume {stopped['run']}" in err

    model.answer_at("conductor", 3)
    before = len(model.asked)
    resumed = program.run("resume", stopped["run"], *QUICK, "--home", own_home, "--json", code=0).json
    assert resumed["attempts"] == 3
    assert resumed["stopped"] == "budget"
    assert model.asked[before:] == ["conductor-3", "coder-3"]


def test_a_killed_run_is_resumed_without_asking_again(program, model, own_home):
    hanging = model.hang_at("coder", 3)
    process = program.start("optimize", SCALE, "--strategy", "n-pragma", "--model", model.spec, "--attempts", "3", "--home", own_home, *QUICK)
    wait_for(hanging, process)
    watcher = program.start("show", "last", "--watch", "--home", own_home)
    process.kill()
    process.communicate()
    seen, said = watcher.communicate(timeout=LIMIT_SECONDS)  # ends by itself
    assert "attempt 2/3: passed" in seen
    assert "it was killed; continue with: pragma resume r-" in said
    model.answer_at("coder", 3)
    before = len(model.asked)
    resumed = program.run("resume", "last", *QUICK, "--home", own_home, "--json", code=0).json
    assert resumed["attempts"] == 3
    assert model.asked[before:] == ["coder-3"]  # the Conductor's reply was committed
    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    assert shown["calls"] == {"asked": 5, "reused": 1}


def test_a_finished_run_may_get_more_attempts(program, finished):
    finished.model.advice(4, "nothing is left to gain", stop=True)
    ran = program.run("resume", finished.run, "--attempts", "5", *QUICK, "--home", finished.home, "--json", code=0)
    assert ran.json["stopped"] == "advice"
    assert ran.json["attempts"] == 3


def test_export_writes_a_drop_in_that_agrees(program, finished):
    ran = program.run("export", "last", "--out", "fast", "--home", finished.home, "--json", code=0)
    assert ran.json["checked"] is True
    names = sorted(path.name for path in (program.folder / "fast").iterdir())
    assert names == ["kernel.cpp", "kernel.h", "scale_new.py"]
    text = (program.folder / "fast" / "scale_new.py").read_text()
    assert "class ModelNew(nn.Module)" in text
    assert "try" not in text.split() and "pass" not in text.split()
    assert "did not pass" in program.run(
        "export", "last", "--node", "3", "--out", "fast", "--home", finished.home
    ).assert_one_clear_error(2)


def test_the_exported_file_works_outside_of_pragma(program, finished, tmp_path):
    program.run("export", "last", "--out", "fast", "--home", finished.home, code=0)
    script = """
import torch, importlib.util
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
task, new = load(TASK, "task"), load(NEW, "new")
torch.manual_seed(42); model = task.Model(*task.get_init_inputs())
torch.manual_seed(42); fast = new.ModelNew(*task.get_init_inputs())
x = task.get_inputs()[0]
assert torch.allclose(model(x), fast(x), atol=1e-4, rtol=1e-4)
assert [n for n, _ in model.named_parameters()] == [n for n, _ in fast.named_parameters()]
odd = torch.rand(96 * 64 + 1)[1:].reshape(64, 96)  # not aligned
assert torch.allclose(model(odd), fast(odd), atol=1e-4, rtol=1e-4)
message = ""
if True:
    from contextlib import suppress
    with suppress(ValueError):
        fast(torch.rand(3, 96))
        message = "a wrong shape was taken"
assert not message
print("agrees")
"""
    script = script.replace("TASK", repr(str(SCALE))).replace("NEW", repr(str(program.folder / "fast" / "scale_new.py")))
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": "/usr/bin:/bin:" + str(ROOT / ".venv/bin"), "TORCH_EXTENSIONS_DIR": str(tmp_path / "ext"), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    assert done.stdout.strip() == "agrees", done.stderr


def test_colours_only_on_a_terminal(program, finished):
    assert "\x1b" not in program.run("show", "last", "--home", finished.home, code=0).out


def test_what_sanitizers_passed_before_is_not_asked_again(program, finished):
    shown = program.run("show", finished.run, "--home", finished.home, "--json", code=0).json
    evaluation = next(trial for trial in shown["trials"] if trial["best"])["evaluation"]
    details = [check["detail"] for check in evaluation["checks"] if check["name"].endswith("_sanitizer")]
    assert len(details) == 3 and all("in an earlier run" in detail for detail in details)
    assert "sanitize" not in evaluation["phases_ms"]
