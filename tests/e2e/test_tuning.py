"""Tuning: the variants of a kernel are built, checked and timed, and the best one is judged."""

import json
import os
import re

import pytest
from conftest import KERNELS, TASKS, Program, ScriptedModel
from shared import copied_home

SCALE = TASKS / "scale.py"
TUNED = KERNELS / "tuned.cpp"


@pytest.fixture(scope="session")
def tuned_once(home, tmp_path_factory):
    """The tuned kernel's evaluation, its bundle's path and the store that remembers the tuning."""
    folder = tmp_path_factory.mktemp("tuned")
    copied_home(home, folder / "home")
    arguments = ["--tune", "10m", "--no-compile-baseline", "--bundle", "b.json", "--home", "home", "--json"]
    ran = Program(folder).run("evaluate", SCALE, TUNED, *arguments, code=0)
    return ran.json, folder


def by_values(tuning: dict) -> dict:
    return {(v["tunables"]["HOW"], v["tunables"]["STEP"]): v for v in tuning["variants"]}


def test_the_fast_variant_is_chosen_and_every_outcome_is_recorded(tuned_once):
    result, _ = tuned_once
    assert result["status"] == "passed"
    assert result["candidate"]["tunables"]["HOW"] == 0
    tuning = result["tuning"]
    assert tuning["combinations"] == 6 and tuning["complete"] and not tuning["recalled"]
    assert tuning["variants"][0]["tunables"] == {"HOW": 1, "STEP": 1}
    variants = by_values(tuning)
    assert variants.keys() == {(1, 1), (0, 1), (0, 2), (2, 1), (3, 1), (4, 1)}
    assert variants[2, 1]["status"] == "wrong_values"
    assert variants[3, 1]["status"] == "compile_error" and "cannot be built" in variants[3, 1]["reason"]
    assert variants[4, 1]["status"] == "crashed"
    # STEP is not used: the two are the same code, which is timed once.
    chosen = tuning["variants"][tuning["chosen"]]
    assert chosen["ratio"]["ci95"][0] > 1.01 and chosen["processes"] >= 2
    assert sum("same machine code" in v["reason"] for v in tuning["variants"]) == 1
    assert 0 < result["phases_ms"]["tune"]
    assert tuning["seconds"] <= tuning["limit_seconds"]
    assert any(check["name"] == "tune" and "HOW=0" in check["detail"] for check in result["checks"])


def test_a_second_tuning_is_a_look_up(program, tuned_once):
    first, folder = tuned_once
    arguments = ["--tune", "10m", "--no-timing", "--home", folder / "home"]
    ran = program.run("evaluate", SCALE, TUNED, *arguments, "--json", code=0)
    assert ran.json["tuning"]["recalled"] is True
    assert ran.json["candidate"]["id"] == first["candidate"]["id"]
    assert ran.json["tuning"]["variants"] == first["tuning"]["variants"]
    anew = program.run("evaluate", SCALE, TUNED, *arguments, "--retune", "--json", code=0)
    assert anew.json["tuning"]["recalled"] is False


def test_another_compiler_is_tuned_for_anew(program, tuned_once):
    """What was chosen for one compiler may be slow with another one, or not build at all."""
    _, folder = tuned_once
    other = program.folder / "other" / "bin"
    other.mkdir(parents=True)
    (other / "g++").write_text('#!/bin/sh\nexec /usr/bin/g++ "$@"\n')
    (other / "g++").chmod(0o755)
    arguments = ["--tune", "5s", "--no-timing", "--home", folder / "home", "--json"]
    ran = program.run("evaluate", SCALE, TUNED, *arguments, code=0, PATH=f"{other}:{os.environ['PATH']}")
    assert ran.json["tuning"]["recalled"] is False
    assert program.run("evaluate", SCALE, TUNED, *arguments, code=0).json["tuning"]["recalled"] is True


def test_the_bundle_of_a_tuned_kernel_is_rechecked_as_it_was_tuned(program, tuned_once):
    first, folder = tuned_once
    bundle = json.loads((folder / "b.json").read_text())
    assert bundle["candidate"]["tunables"] == first["candidate"]["tunables"]
    ran = program.run("recheck", folder / "b.json", "--no-timing", "--json", "--home", folder / "home")
    assert ran.json["verdict"] != "refuted", ran.json["differences"]
    assert ran.json["same_seed"]["object_sha256"] == first["object_sha256"]


def test_recorded_tunables_are_built_and_not_tuned_again(program, tuned_once):
    first, folder = tuned_once
    kernel = {"tunables": {"HOW": 0, "STEP": 2}, "files": ["kernel.cpp"]}
    (program.folder / "kernel").mkdir()
    (program.folder / "kernel" / "candidate.json").write_text(json.dumps(kernel))
    (program.folder / "kernel" / "kernel.cpp").write_text(TUNED.read_text())
    arguments = ["--tune", "10m", "--no-timing", "--home", folder / "home", "--json"]
    ran = program.run("evaluate", SCALE, "kernel", *arguments, code=0)
    assert ran.json["candidate"]["tunables"] == {"HOW": 0, "STEP": 2}
    assert ran.json["tuning"] is None


def test_without_tuning_the_default_is_judged(program, home):
    ran = program.run("evaluate", SCALE, TUNED, "--no-timing", "--home", home, "--json", code=0)
    assert ran.json["candidate"]["tunables"] == {} and ran.json["tuning"] is None


def test_a_default_that_is_wrong_is_the_verdict(program, home):
    text = TUNED.read_text().replace("PRAGMA_TUNE(HOW, 1,", "PRAGMA_TUNE(HOW, 2,")
    (program.folder / "k.cpp").write_text(text)
    ran = program.run("evaluate", SCALE, "k.cpp", "--tune", "30", "--no-timing", "--home", home, "--json", code=1)
    assert ran.json["status"] == "wrong_values"
    assert len(ran.json["tuning"]["variants"]) == 1


def test_a_bad_declaration_is_named_with_its_line(program, home):
    (program.folder / "k.cpp").write_text(TUNED.read_text().replace("PRAGMA_TUNE(STEP, 1, 1, 2)", "PRAGMA_TUNE(STEP)"))
    ran = program.run("evaluate", SCALE, "k.cpp", "--tune", "30", "--no-timing", "--home", home, "--json", code=1)
    assert ran.json["status"] == "rejected_source"
    assert re.match(r"line 5: PRAGMA_TUNE\(STEP\)", ran.json["reason"])


def test_no_time_leaves_the_default(program, own_home):
    ran = program.run("evaluate", SCALE, TUNED, "--tune", "0.001", "--no-timing", "--home", own_home, "--json", code=0)
    assert ran.json["candidate"]["tunables"] == {}
    assert ran.json["tuning"]["complete"] is False


def test_people_see_the_variants(program, tuned_once):
    _, folder = tuned_once
    ran = program.run("evaluate", SCALE, TUNED, "--tune", "10m", "--no-timing", "--home", folder / "home", code=0)
    assert "HOW=0" in ran.out and "chosen" in ran.out and "(default)" in ran.out
    assert "wrong_values" in ran.out
    for wrong in ["fast", "-3"]:
        assert "--tune" in program.run("evaluate", SCALE, TUNED, f"--tune={wrong}").err


def test_a_search_keeps_the_tuned_variant_and_replays_it(program, own_home, tmp_path):
    model = ScriptedModel(tmp_path / "model")
    model.code(1, "tuned")
    budget = ["--attempts", "1", "--tune", "10m", "--no-compile-baseline", "--no-call"]
    arguments = ["--strategy", "n-pragma", "--model", model.spec, *budget, "--home", own_home, "--out", "out", "--json"]
    ran = program.run("optimize", SCALE, *arguments, code=0)
    assert ran.json["best"]["candidate"]["tunables"]["HOW"] == 0
    assert any(path.endswith("scale_new.py") for path in ran.json["exported"])
    assert "#define PRAGMA_TUNE_HOW 0" in (program.folder / "out" / "kernel.h").read_text()
    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    assert shown["settings"]["tune_seconds"] == 600
    trial = shown["trials"][0]
    assert trial["candidate"]["tunables"]["HOW"] == 0
    chosen = trial["evaluation"]["tuning"]["variants"][trial["evaluation"]["tuning"]["chosen"]]
    assert chosen["tunables"] == trial["candidate"]["tunables"]
    assert program.run("replay", "last", "--home", own_home, "--json", code=0).json["same_tree"] is True
