"""A backend that nobody built into pragma: the made-up Kestrel K1 of docs/add-a-backend.md, from the files on that page.
Its memory is the host's, so Triton runs in its interpreter. Jails, checks, timing, the profiler's adapter and the rules
are the real ones; the figures mean nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil

import pytest
from conftest import ROOT, TASKS

DOUBLE = TASKS / "double.py"
KERNEL = """import triton
import triton.language as tl


@triton.jit
def double(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, %s * tl.load(x + at, mask=at < count), mask=at < count)


def run(x, out):
    double[(triton.cdiv(x.numel(), 16384),)](x, out, x.numel(), BLOCK=16384)
"""
TRITON = ["--target", "triton", "--no-compile-baseline", "--json"]

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
)


def files_of_the_page() -> dict[str, str]:
    page = (ROOT / "docs" / "add-a-backend.md").read_text()
    return dict(re.findall(r"^```\w+\n# file: (\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL))


@pytest.fixture
def kestrel(program):
    """pragma with the page's files in a copy of its knowledge, and the page's profiler on the path."""
    shutil.copytree(ROOT / "knowledge", program.folder / "knowledge")
    for name, text in files_of_the_page().items():
        path = program.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    (program.folder / "pragma.toml").write_text('knowledge = "knowledge"\n')
    (program.folder / "right.py").write_text(KERNEL % "2.0")
    (program.folder / "wrong.py").write_text(KERNEL % "3.0")
    path = f"{program.folder / 'bin'}:{os.environ['PATH']}"

    def run(*arguments, **more):
        return program.run(*arguments, **{"PATH": path, "CUDA_VISIBLE_DEVICES": "", **more})

    return run


def test_doctor_names_the_device_and_its_caveat(kestrel, home):
    items = {item["item"]: item for item in kestrel("doctor", "--home", home, "--json").json["items"]}
    assert items["GPU"]["detail"].startswith("Kestrel K1 (rev 2), driver 2.1")
    assert "Kestrel NPUs in triton (made up for docs/add-a-backend.md)" in items["backends"]["detail"]
    assert "kestrel-prof" in items["foreign profilers"]["detail"].split(";")[0]
    absent = kestrel("doctor", "--home", home, "--json", KESTREL_ABSENT="1").json["items"]
    assert "Kestrel NPUs: no Kestrel driver" in next(i["detail"] for i in absent if i["item"] == "GPU")


@needs_triton
def test_a_kernel_is_checked_and_timed_on_it(kestrel, own_home):
    arguments = ["--no-serve", "--home", own_home, *TRITON]
    ran = kestrel("evaluate", DOUBLE, "right.py", *arguments, code=0)
    assert ran.json["status"] == "passed", ran.json["reason"]
    assert ran.json["environment"]["device"] == "Kestrel K1 (rev 2), driver 2.1"
    assert ran.json["timing"]["median_ms"] > 0 and ran.json["speedup"]["eager"]["median"] > 0
    assert "Kestrel NPUs: made up for docs/add-a-backend.md" in ran.err
    wrong = kestrel("evaluate", DOUBLE, "wrong.py", *arguments, code=1)
    assert wrong.json["status"] == "wrong_values"
    absent = kestrel("evaluate", DOUBLE, "right.py", *arguments, KESTREL_ABSENT="1", code=0)
    assert absent.json["status"] == "passed" and absent.json.get("timing") is None


@needs_triton
def test_its_profiler_is_started_and_diagnosed(kestrel, own_home):
    arguments = ["profile", DOUBLE, "right.py", "--home", own_home, "--target", "triton", "--json"]
    profile = kestrel(*arguments, code=0).json
    metrics = {metric["tag"]: metric for metric in profile["metrics"]}
    assert (metrics["gpu_kernel_time"]["value"], metrics["gpu_dram_bytes"]["value"]) == (10, 64 * 128)
    assert metrics["gpu_tensor_active"]["source"] == "pmu"
    assert metrics["bound_ms"]["value"] > 0
    providers = {provider["name"]: provider for provider in profile["providers"]}
    assert providers["kestrel-prof"]["verdict"] == "ran"
    assert not {"ncu", "ncu rules", "sass"} & set(providers)
    assert "launch_overhead" in {diagnosis["class"] for diagnosis in profile["diagnosis"]}


def test_what_it_recorded_elsewhere_is_read(kestrel, home):
    recording = "tests/recorded/kestrel-prof/run.csv"
    ran = kestrel("diagnose", recording, "--from", "kestrel-prof", "--kernel", "softmax", "--json", code=0)
    assert {m["tag"]: m["value"] for m in ran.json["metrics"]}["gpu_kernel_time"] == 85
