"""profile and diagnose: figures with sources, the cause by counts and not by IPC, and what goes wrong."""

import json

import pytest
from conftest import KERNELS, ROOT, TASKS, Program

SET = ROOT / "bench" / "diagnosis"
SOURCES = {"pmu", "exact count", "measured", "simulated", "sampled", "static", "estimated"}


@pytest.fixture(scope="module")
def short_loop(home, tmp_path_factory):
    """The scene of the paper's Listing 1: a convolution over five taps, and a version with vectors along the row."""
    program = Program(tmp_path_factory.mktemp("profile"))
    kernels = SET / "kernels"
    ran = program.run("profile", SET / "tasks" / "conv1d.py", kernels / "conv1d_short_trip.cpp",
                      "--against", kernels / "conv1d_short_trip.fixed.cpp", "--json", "--home", home, code=0)
    return ran.json


# Other tests would make other causes look larger, and all that read this profile are run where it is made.
reads_short_loop = pytest.mark.alone


def metrics_of(profile):
    return {metric["tag"]: metric for metric in profile["metrics"]}


@reads_short_loop
def test_a_profile_says_what_was_measured_and_by_whom(short_loop):
    metrics = metrics_of(short_loop)
    for tag in ("time_ms", "instructions", "cycles", "vector_share", "loads", "l1_misses", "roofline_share"):
        assert metrics[tag]["value"] >= 0, tag
    assert {metric["source"] for metric in metrics.values()} <= SOURCES
    assert metrics["instructions"]["source"] in ("exact count", "pmu")
    assert short_loop["hot"] and short_loop["hot"][0]["text"]
    assert short_loop["evaluate"]["status"] == "passed"


@reads_short_loop
def test_every_source_says_what_became_of_it(short_loop):
    notes = {note["name"]: note for note in short_loop["providers"]}
    assert {"assembly", "clocks", "counts", "samples", "trace", "counters", "roofline"} <= set(notes)
    for note in notes.values():
        assert note["verdict"] in ("ran", "absent", "refused", "skipped", "failed"), note
        assert note["verdict"] == "ran" or note["detail"], note


@reads_short_loop
def test_the_slow_loop_is_named_by_its_instructions_and_not_by_its_ipc(short_loop):
    """Higher IPC, and yet slower: more instructions do the same work in narrow vectors."""
    compared = short_loop["against"]
    assert compared["verdict"] == "regressed"
    assert "ipc" not in compared["statement"].lower()
    changed = {difference["tag"]: difference for difference in compared["differences"]}
    assert changed["instructions"]["factor"] > 2
    classes = [diagnosis["class"] for diagnosis in short_loop["diagnosis"]]
    assert "not_vectorised" in classes
    for diagnosis in short_loop["diagnosis"]:
        assert not any("ipc" in line.lower() for line in diagnosis["evidence"])


def test_a_kernel_that_asks_for_threads_by_itself_is_simulated_whole(program, home, tmp_path):
    kernel = tmp_path / "two_threads.cpp"
    loop = "  for (int r = 0;"
    text = (KERNELS / "good.cpp").read_text().replace(loop, f"#pragma omp parallel for num_threads(2)\n{loop}")
    kernel.write_text(f"// pragma-flags: -O3 -march=native -fopenmp\n{text}")
    ran = program.run("profile", TASKS / "scale.py", kernel, "--json", "--home", home, code=0)
    trace = next(note for note in ran.json["providers"] if note["name"] == "trace")
    assert trace["verdict"] == "ran"
    assert "of a call" not in trace["detail"]  # a part; the caches' sizes may be spoken of


def test_a_rejected_kernel_is_not_profiled(program, home):
    ran = program.run("profile", TASKS / "scale.py", KERNELS / "wrong.cpp", "--json", "--home", home, code=1)
    assert ran.json["evaluate"]["status"] == "wrong_values"
    assert ran.json["metrics"] == []


@reads_short_loop
def test_a_recorded_profile_is_diagnosed_again(program, short_loop, tmp_path):
    file = tmp_path / "profile.json"
    file.write_text(json.dumps({"schema": 1, "metrics": short_loop["metrics"]}))
    ran = program.run("diagnose", file, "--json", code=0)
    classes = [diagnosis["class"] for diagnosis in ran.json["diagnosis"]]
    assert classes == [diagnosis["class"] for diagnosis in short_loop["diagnosis"]]
    explained = program.run("diagnose", file, "--explain", code=0)
    assert "not_vectorised" in explained.out and "fired" in explained.out


def test_what_another_profiler_printed_is_diagnosed(program):
    recorded = ROOT / "tests" / "recorded" / "ncu"
    ran = program.run("diagnose", recorded / "raw_full.csv", "--from", "ncu", "--json", code=0)
    assert ran.json["diagnosis"][0]["class"] == "memory_throughput"
    assert metrics_of(ran.json)["gpu_kernel_time"] == {"tag": "gpu_kernel_time", "value": 63.424, "unit": "us", "source": "pmu"}
    small = program.run("diagnose", recorded / "raw_default.csv", "--from", "ncu", "--kernel", "softmax_k",
                        "--given", "time_ms=0.2,gpu_launch_gap=100", "--json", code=0)
    assert "launch_overhead" in [diagnosis["class"] for diagnosis in small.json["diagnosis"]]


@pytest.mark.parametrize("options, word", [(["--from", "nsight"], "known are"), (["--from", "ncu"], "not output of ncu"),
                                           (["--given", "speed=3"], "docs/metrics.md"), (["--given", "time_ms=x"], "NUMBER")])
def test_a_wrong_question_about_a_recorded_profile_is_one_line(program, tmp_path, options, word):
    file = tmp_path / "profile.json"
    file.write_text(json.dumps({"schema": 1, "metrics": []}))
    assert word in program.run("diagnose", file, *options).assert_one_clear_error(2)


def test_a_python_solution_is_refused_in_one_line(program, home, tmp_path):
    solution = tmp_path / "solution.py"
    solution.write_text("class ModelNew: pass\n")
    ran = program.run("profile", TASKS / "scale.py", solution, "--home", home)
    assert "C++" in ran.assert_one_clear_error(2)


@pytest.mark.parametrize("kernel, target, options, word", [
    ("good.cpp", "cuda", [], "CUDA sources (.cu)"), ("good.cpp", "triton", [], "Triton modules (.py)"),
    ("kernel.cu", "cpu", [], "C++ kernels (.cpp)"), ("kernel.cu", "cuda", ["--with", "callgrind"], "--with")])
def test_what_a_target_does_not_run_is_not_profiled_there(program, home, tmp_path, kernel, target, options, word):
    (tmp_path / "kernel.cu").write_text('extern "C" void pragma_launch() {}\n')
    file = KERNELS / kernel if (KERNELS / kernel).exists() else tmp_path / kernel
    ran = program.run("profile", TASKS / "scale.py", file, "--target", target, *options, "--home", home)
    assert word in ran.assert_one_clear_error(2)


def test_a_file_that_is_no_profile_is_said_in_one_line(program, tmp_path):
    file = tmp_path / "profile.json"
    file.write_text("{]")
    program.run("diagnose", file).assert_one_clear_error(3)


def test_the_conductor_is_shown_the_diagnosis_what_it_asked_for_and_what_it_means(program, own_home, tmp_path):
    good = (KERNELS / "good.cpp").read_text()
    advice = {"base": "best", "bottleneck": "b", "evidence": "e", "change": "c", "extra_metrics": ["store_bytes"], "stop": False}
    for node in (1, 2, 3):
        kernel = f"{good}// {node}\n" if node < 3 else "int;"  # the last prompt comes before the last kernel
        (tmp_path / f"coder-{node}.md").write_text(f"```cpp\n{kernel}```\n")
        (tmp_path / f"conductor-{node}.md").write_text(f"```json\n{json.dumps(advice)}\n```\n")
    script = tmp_path / "model.sh"
    script.write_text(f'cat > "{tmp_path}/prompt-$PRAGMA_ROLE-$PRAGMA_NODE"\nexec cat "{tmp_path}/$PRAGMA_ROLE-$PRAGMA_NODE.md"\n')
    program.run("optimize", TASKS / "scale.py", "--strategy", "pragma", "--model", f"command:sh {script}",
                "--attempts", "3", "--no-compile-baseline", "--no-call", "--home", own_home, code=0)
    prompt = (tmp_path / "prompt-conductor-3").read_text()
    assert prompt.index("## Diagnosis") < prompt.index("## Figures of one call")
    assert "| this version | best version | change |" in prompt
    assert "`instructions`: " in prompt and "| store_bytes |" in prompt
    before = (tmp_path / "prompt-conductor-2").read_text()
    assert "| store_bytes |" not in before and " store_bytes, " in before


def test_other_profilers_are_asked_by_name(program, own_home):
    ran = program.run("profile", TASKS / "scale.py", KERNELS / "good.cpp", "--with", "callgrind,perf-stat,cachegrind",
                      "--json", "--home", own_home, code=0)
    notes = {note["name"]: note for note in ran.json["providers"]}
    assert notes["callgrind"]["verdict"] == "ran" and "instructions" in notes["callgrind"]["detail"], notes
    assert notes["cachegrind"]["verdict"] == "ran", notes["cachegrind"]
    # Counters may be missing or forbidden here; software events are there all the same where perf is.
    assert notes["perf-stat"]["verdict"] in ("ran", "refused", "absent"), notes["perf-stat"]
    if notes["perf-stat"]["verdict"] == "ran":
        assert metrics_of(ran.json)["program_cpu_ms"]["value"] > 0


@pytest.mark.parametrize(("tool", "said"), [("perfstat", "perf-stat"), ("ncu", "accelerators"), ("./none.toml", "none.toml")])
def test_a_profiler_that_cannot_be_asked_is_said_before_anything_runs(program, tool, said):
    ran = program.run("profile", TASKS / "scale.py", KERNELS / "good.cpp", "--with", tool)
    assert said in ran.assert_one_clear_error(2)
