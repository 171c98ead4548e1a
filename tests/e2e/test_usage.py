"""Command lines: help, versions, mistakes, settings."""

import json

import pytest
from conftest import TASKS, read_golden

COMMANDS = ["optimize", "evaluate", "profile", "diagnose", "bench", "lint", "knowledge", "recheck", "replay", "resume", "runs", "show", "export", "report", "strategies", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_golden_one_and_shows_an_example(program, command):
    ran = program.run(command, "--help", code=0)
    assert "Example:\n  pragma " + command in ran.out
    assert ran.out == read_golden(f"help-{command}.txt", ran.out)


def test_top_help_names_every_command(program):
    ran = program.run("--help", code=0)
    assert ran.out == read_golden("help.txt", ran.out)
    for command in COMMANDS:
        assert f"\n  {command}" in ran.out


def test_version(program):
    assert program.run("--version", code=0).out.startswith("pragma ")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["optimise", "x.py"], "unknown command 'optimise'; did you mean 'optimize'?"),
        (["frobnicate"], "unknown command 'frobnicate'; see pragma --help"),
        (["runs", "--jsno"], "unknown flag '--jsno'; did you mean '--json'?"),
        (["evaluate", "a.py", "b.cpp", "--repeats=3"], "unknown flag '--repeats'; did you mean '--repeat'?"),
        (["doctor", "extra"], "unexpected argument 'extra'; see pragma doctor --help"),
        (["strategies", "starc"], 'there is no strategy "starc"; did you mean "stark"?'),
        (["evaluate", "only.py"], "evaluate needs a TASK and a CANDIDATE; see pragma evaluate --help"),
    ],
)
def test_mistakes_get_one_line_with_a_suggestion(program, arguments, message):
    assert program.run(*arguments).assert_one_clear_error(2) == message


@pytest.mark.parametrize(
    "arguments, part",
    [
        ([], "A subcommand is required"),
        (["optimize"], "TASK is required"),
        (["evaluate", "a.py", "b.cpp", "--mode", "lenient"], "--mode"),
        (["evaluate", "a.py", "b.cpp", "--threads", "many"], "--threads"),
        (["optimize", "a.py", "--time", "soon"], "invalid duration 'soon'"),
        (["bench", ".", "--tasks", "3-1", "--list"], "invalid range '3-1'"),
    ],
)
def test_wrong_values_get_one_line(program, arguments, part):
    assert part in program.run(*arguments).assert_one_clear_error(2)


def test_a_role_without_a_model_is_told_which_there_are(program):
    arguments = ["--strategy", "pragma", "--conductor", "command:true"]
    message = program.run("optimize", TASKS / "scale.py", *arguments).assert_one_clear_error(2)
    for word in ["--model", "openai:", "anthropic:", "command:", "handoff:", "replay:"]:
        assert word in message


def test_an_unknown_model_or_strategy_is_told_before_anything_starts(program):
    task = TASKS / "scale.py"
    program.run("optimize", task, "--model", "oracle:x").assert_one_clear_error(2)
    message = program.run("optimize", task, "--model", "command:true", "--strategy", "n-pragm").assert_one_clear_error(2)
    assert "n-pragma" in message


def test_json_errors_are_objects_too(program):
    ran = program.run("show", "last", "--json", code=2)
    assert ran.json["failure"]["kind"] == "usage"
    assert ran.json["failure"]["message"] in ran.err


@pytest.mark.parametrize(
    "text, message",
    [
        ("atempts = 3\n", "pragma.toml:1: unknown key 'atempts'; did you mean 'attempts'?"),
        ("attempts = 'three'\n", "pragma.toml:1: the value of 'attempts' has the wrong type"),
        ("mode = 'lenient'\n", "pragma.toml: mode must be one of strict, official"),
        ('\n[models."openai:x"]\nusd = 1.0\n', "pragma.toml:3: unknown key 'usd'"),
        ("attempts =\n", "pragma.toml:1: "),
    ],
)
def test_mistakes_in_pragma_toml_are_told_with_their_line(program, text, message):
    (program.folder / "pragma.toml").write_text(text)
    assert message in program.run("strategies").assert_one_clear_error(2)


def test_a_config_file_that_is_named_must_exist(program):
    program.run("strategies", "--config", "missing.toml").assert_one_clear_error(2)


def test_settings_are_those_that_the_environment_names_where_there_is_no_pragma_toml(program):
    (program.folder / "mine.toml").write_text("atempts = 3\n")
    ran = program.run("strategies", PRAGMA_SETTINGS="mine.toml")
    assert "mine.toml:1: unknown key 'atempts'" in ran.assert_one_clear_error(2)
    assert "missing.toml" in program.run("strategies", PRAGMA_SETTINGS="missing.toml").assert_one_clear_error(2)
    program.run("strategies", PRAGMA_SETTINGS="", code=0)
    (program.folder / "pragma.toml").write_text("attempts = 3\n")
    program.run("strategies", PRAGMA_SETTINGS="mine.toml", code=0)


def test_strategies(program):
    listed = program.run("strategies", "--json", code=0).json
    assert listed["schema"] == 1
    assert {"n-pragma", "caesar", "sampling"} <= {s["name"] for s in listed["strategies"]}
    assert "n-pragma" in program.run("strategies", code=0).out


def test_doctor(program):
    ran = program.run("doctor", "--json", code=0)
    items = {item["item"]: item for item in ran.json["items"]}
    assert ran.json["ready"] is True
    for needed in ["processor", "sandbox", "g++", "python and torch", "timing lock"]:
        assert items[needed]["state"] == "ok", items[needed]
    assert {"cgroups", "OpenMP", "hardware counters", "valgrind", "llvm-mca", "GPU", "backends", "disk"} <= set(items)


def test_doctor_says_what_is_missing(program):
    ran = program.run("doctor", "--python", "/nonexistent/python", code=3)
    assert "cannot import torch" in ran.out
    assert "To get the rest:" in ran.out
    assert "\x1b" not in ran.out  # no colours into a pipe


def test_looking_at_runs_makes_no_store(program):
    program.run("runs", "--home", "here").assert_one_clear_error(2)
    assert not (program.folder / "here").exists()


def test_bench_lists_a_kernelbench_checkout(program):
    level = program.folder / "checkout" / "KernelBench" / "level1"
    level.mkdir(parents=True)
    for number in range(1, 13):
        (level / f"{number}_Task_{number}.py").write_text("")
    ran = program.run("bench", "checkout", "--level", "1", "--tasks", "2-3,12", "--list", "--json", code=0)
    assert [task["number"] for task in ran.json["tasks"]] == [2, 3, 12]
    assert "no level 3" in program.run("bench", "checkout", "--level", "3", "--list").assert_one_clear_error(2)
    assert "no task is selected" in program.run("bench", "checkout", "--tasks", "99", "--list").assert_one_clear_error(2)
    assert json.loads(json.dumps(ran.json)) == ran.json
