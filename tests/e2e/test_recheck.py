"""Evidence bundles and recheck: what was measured is confirmed, what was made up is not."""

import copy
import hashlib
import json
import pathlib
import shutil

import pytest
from conftest import KERNELS, TASKS, Program

SCALE = TASKS / "scale.py"


def seal(bundle: dict) -> str:
    """The bundle's text, sealed as anybody can seal one (docs/evidence.md)."""
    body = json.dumps({k: v for k, v in bundle.items() if k != "sha256"}, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(body.encode()).hexdigest()
    return body[:-1] + f',"sha256":"{digest}"}}\n'


def candidate_id(candidate: dict) -> str:
    """The id as docs/evidence.md has it."""
    parts = [candidate["language"]]
    for name, text in sorted(candidate["files"].items()):
        parts += [name, text]
    parts += [candidate["compiler"], "flags", *candidate["flags"], "tunables"]
    for name, value in sorted(candidate["tunables"].items()):
        parts += [name, str(value)]
    text = "".join(f"{len(part.encode())}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.fixture(scope="session")
def bundle_once(home, tmp_path_factory) -> pathlib.Path:
    """The evidence of the good kernel, checks only."""
    folder = tmp_path_factory.mktemp("bundle")
    arguments = ["--no-timing", "--bundle", "good.json", "--home", home]
    Program(folder).run("evaluate", SCALE, KERNELS / "good.cpp", *arguments, code=0)
    return folder / "good.json"


@pytest.fixture
def good(bundle_once) -> dict:
    return json.loads(bundle_once.read_text())


def forge(program, bundle: dict, source: str) -> str:
    """A bundle that claims the good kernel's figures for another source; returns its file's name."""
    forged = copy.deepcopy(bundle)
    forged["candidate"]["files"]["kernel.cpp"] = source
    forged["candidate"]["id"] = candidate_id(forged["candidate"])
    (program.folder / "forged.json").write_text(seal(forged))
    return "forged.json"


def recheck(program, bundle, *more, **options):
    return program.run("recheck", bundle, "--json", *more, **options)


def test_evaluate_writes_a_bundle_with_everything_in_it(timed):
    text = timed.bundle.read_text()
    bundle = json.loads(text)
    assert seal(bundle) == text
    assert bundle["kind"] == "pragma-bundle"
    assert bundle["task"]["source"] == SCALE.read_text()
    assert bundle["candidate"]["id"] == candidate_id(bundle["candidate"])
    assert bundle["candidate"]["files"]["kernel.cpp"] == (KERNELS / "good.cpp").read_text()
    evaluation = bundle["evaluation"]
    assert evaluation["status"] == "passed"
    assert len(evaluation["seed"]) == 32
    assert len(evaluation["object_sha256"]) == 64
    assert evaluation["environment"]["compiler"] and evaluation["environment"]["protections"]
    assert bundle["machine"]["peak_gflops"] > 0
    sides = {(side["session"], side["side"].split(" ")[0]): side["seconds"] for side in bundle["samples"]}
    assert set(sides) == {("eager", "candidate"), ("eager", "eager")}
    processes = evaluation["timing"]["processes"]
    for seconds in sides.values():
        assert len(seconds) == processes
        assert all(second > 0 for process in seconds for second in process)


def test_a_folder_takes_bundles_by_their_hash(program, home):
    (program.folder / "all").mkdir()
    ran = program.run(
        "evaluate", SCALE, KERNELS / "good.cpp", "--no-timing", "--bundle", "all", "--home", home, "--json", code=0
    )
    assert [path.name for path in (program.folder / "all").iterdir()] == [ran.json["bundle"] + ".json"]


def test_what_does_not_pass_leaves_no_bundle(program, home):
    ran = program.run(
        "evaluate", SCALE, KERNELS / "wrong.cpp", "--no-timing", "--bundle", "b.json", "--home", home, "--json", code=1
    )
    assert "bundle" not in ran.json
    assert not (program.folder / "b.json").exists()


def test_recheck_confirms_from_the_bundle_alone(program, bundle_once):
    shutil.copy(bundle_once, program.folder / "b.json")
    ran = recheck(program, "b.json", "--home", "another-home", code=0)
    result = ran.json
    recorded = json.loads(bundle_once.read_text())
    assert result["schema"] == 1
    assert result["bundle"] == recorded["sha256"]
    assert result["intact"] is True
    assert result["verdict"] == "confirmed", result["differences"]
    assert result["differences"] == []
    assert result["same_seed"]["seed"] == recorded["evaluation"]["seed"] != result["fresh_seed"]["seed"]
    assert result["same_seed"]["error"] == result["recorded"]["error"] == recorded["evaluation"]["error"]
    assert result["same_seed"]["object_sha256"] == recorded["evaluation"]["object_sha256"]
    assert result["fresh_seed"]["status"] == "passed"
    assert result["recorded"]["task"]["name"] == "scale"
    assert sorted(path.name for path in program.folder.iterdir()) == ["b.json"]


def test_recheck_times_again_what_was_timed(program, timed):
    ran = recheck(program, timed.bundle)
    # The machine may be busy. Then nothing may be refuted, but the intervals may be too wide to confirm.
    code = {"confirmed": 0, "confirmed_with_notes": 0, "inconclusive": 4}
    assert ran.code == code.get(ran.json["verdict"]), ran.json["differences"]
    for judged in ["recorded", "same_seed", "fresh_seed"]:
        low, high = ran.json[judged]["speedup"]["eager"]["ci95"]
        assert 0 < low <= high
        assert ran.json[judged]["speedup"]["compile"] is None


def test_the_table_for_people(program, bundle_once):
    ran = program.run("recheck", bundle_once, "--no-timing", COLUMNS="80", code=0)
    assert ran.out.startswith("confirmed  scale  kernel ")
    for part in ["recorded", "same seed", "fresh", "status", "rel. L2 error", "object"]:
        assert part in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("part", ["gain", "passed", "g++", "sha256"])
def test_an_altered_byte_is_detected(program, bundle_once, part):
    text = bundle_once.read_text()
    at = text.rindex(part)
    (program.folder / "b.json").write_text(text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :])
    ran = recheck(program, "b.json")
    assert "altered" in ran.assert_one_clear_error(2)
    assert ran.json["failure"]["kind"] == "usage"


def test_bad_bundles_get_one_clear_line(program, good):
    (program.folder / "empty.json").write_text("")
    assert "not an evidence bundle" in recheck(program, "empty.json").assert_one_clear_error(2)
    (program.folder / "newer.json").write_text(seal({**good, "schema": 2}))
    assert "newer" in recheck(program, "newer.json").assert_one_clear_error(2)
    assert "there is no bundle" in recheck(program, "missing.json").assert_one_clear_error(2)
    recheck(program, ".").assert_one_clear_error(2)
    recheck(program, "abcdef0123").assert_one_clear_error(2)
    recheck(program, "last").assert_one_clear_error(2)


def test_a_forged_bundle_with_a_wrong_kernel_is_refuted(program, good):
    ran = recheck(program, forge(program, good, (KERNELS / "wrong.cpp").read_text()), code=1)
    assert ran.json["verdict"] == "refuted"
    assert ran.json["intact"] is True
    assert ran.json["recorded"]["status"] == "passed"
    assert ran.json["same_seed"]["status"] == ran.json["fresh_seed"]["status"] == "wrong_values"
    assert "status" in [difference["what"] for difference in ran.json["differences"]]


def test_a_made_up_speedup_is_refuted(program, timed):
    forged = json.loads(timed.bundle.read_text())
    forged["evaluation"]["speedup"]["eager"] = {"median": 100.0, "ci95": [99.0, 101.0]}
    (program.folder / "forged.json").write_text(seal(forged))
    ran = recheck(program, "forged.json", "--no-timing", code=1)
    refuting = [difference for difference in ran.json["differences"] if difference["weight"] == "refutes"]
    assert [difference["what"] for difference in refuting] == ["speedup.eager"]


def test_a_stranger_cannot_choose_names_or_compilers(program, good):
    evil = copy.deepcopy(good)
    evil["candidate"]["files"] = {"../../x.cpp": "int x;"}
    evil["candidate"]["id"] = candidate_id(evil["candidate"])
    (program.folder / "evil.json").write_text(seal(evil))
    assert "kernel.cpp" in recheck(program, "evil.json").assert_one_clear_error(2)
    evil = copy.deepcopy(good)
    evil["candidate"]["compiler"] = "/bin/sh"
    evil["candidate"]["id"] = candidate_id(evil["candidate"])
    (program.folder / "evil.json").write_text(seal(evil))
    assert "compiler" in recheck(program, "evil.json").assert_one_clear_error(2)


HOSTILE_TASK = '''
import os
for folder in [{folder!r}, os.path.dirname(os.path.abspath(__file__)), os.path.expanduser("~"), "/var/tmp"]:
    try:
        open(os.path.join(folder, "left-behind"), "w").write("x")
    except OSError:
        pass
'''


def test_a_strangers_task_and_kernel_leave_nothing_behind(program, good, tmp_path_factory):
    watched = tmp_path_factory.mktemp("watched")
    temporary = tmp_path_factory.mktemp("tmp")
    evil = copy.deepcopy(good)
    evil["task"]["name"] = "../../\u001b[31mred"
    evil["task"]["source"] = HOSTILE_TASK.format(folder=str(watched)) + good["task"]["source"]
    evil["task"]["sha256"] = hashlib.sha256(evil["task"]["source"].encode()).hexdigest()
    evil["evaluation"]["environment"]["cpu"] = "\u001b]0;owned\u0007"
    evil["system"] = "\u001b[2J"
    file = forge(program, evil, (KERNELS / "forbidden_call.cpp").read_text())
    ran = program.run("recheck", file, "--no-timing", TMPDIR=str(temporary), code=1)
    assert "REFUTED" in ran.out
    assert "\x1b" not in ran.out + ran.err
    assert list(watched.iterdir()) == []
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in program.folder.iterdir()) == ["forged.json"]


def test_a_search_keeps_the_evidence_of_what_passed(program, finished):
    home = finished.home
    result = finished.ran.json
    shown = program.run("show", "last", "--home", home, "--json", code=0).json
    assert shown["bundle"] == result["bundle"]
    of_trials = [trial["bundle"] for trial in shown["trials"]]
    assert of_trials[0] is None and of_trials[2] is None
    assert {path.stem for path in (home / "evidence").iterdir()} == {of_trials[1], shown["bundle"]}
    assert shown["bundle"][:12] in program.run("show", "--home", home, code=0).out

    lineage = json.loads((home / "evidence" / f"{of_trials[1]}.json").read_text())["lineage"]
    assert (lineage["run"], lineage["node"], lineage["author"]) == (result["run"], 2, "coder command")
    assert lineage["advice"]["change"] == "spell the argument as it is declared"
    assert [(a["node"], a["status"]) for a in lineage["ancestors"]] == [(1, "compile_error")]
    assert [call["role"] for call in lineage["calls"]] == ["conductor", "coder"]
    assert "scripted_model.sh" not in json.dumps(lineage)


def test_recheck_finds_a_runs_evidence_in_the_home(program, finished):
    by_run = recheck(program, finished.run, "--no-timing", "--home", finished.home, code=0).json
    assert by_run["bundle"] == finished.ran.json["bundle"]
    assert [difference["what"] for difference in by_run["differences"]] == ["timing"]
    assert by_run["verdict"] == "confirmed_with_notes"
    by_name = recheck(program, by_run["bundle"][:10], "--no-timing", "--home", finished.home, code=0).json
    assert by_name["bundle"] == by_run["bundle"]
