"""tools/run_tests.py: what it leaves behind when it is stopped."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import run_tests  # noqa: E402
from test_units import Unit  # noqa: E402

RUN = """
import os, pathlib, sys
import run_tests
from test_units import Unit

folder = pathlib.Path(sys.argv[1])
# It starts a process of its own, as pytest does, and tells both numbers.
told = f"sleep 600 & echo $$ $! > {folder}/new && mv {folder}/new {folder}/pids"
stops_its_runner = f"kill -HUP {os.getpid()}" if sys.argv[3:] else "true"
command = ["/bin/sh", "-c", f"{told} && {stops_its_runner}; wait"]
run_tests.end_on_signals()
runner = run_tests.Runner(folder, folder, folder)
alone = sys.argv[2] == "alone"
list(runner.run_all([Unit("sleeps", "a step", command, alone=alone)], 1))
"""


def lives(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def eventually(is_so) -> bool:
    deadline = time.monotonic() + 30
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


def all_end(told: pathlib.Path) -> bool:
    """Whether the processes whose numbers a unit has told end soon. A unit that never began has told none."""
    pids = [int(word) for word in told.read_text().split()] if told.exists() else []
    return eventually(lambda: not any(lives(pid) for pid in pids))


@pytest.mark.parametrize("how", ["alone", "together"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process_behind(tmp_path, number, how):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    run = subprocess.Popen([sys.executable, "-c", RUN, tmp_path, how], env=environment, start_new_session=True)
    assert eventually((tmp_path / "pids").exists)
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert all(lives(pid) for pid in pids)
    run.send_signal(number)
    assert run.wait(30) == (-number if number == signal.SIGKILL else 128 + number)
    assert all_end(tmp_path / "pids")


@pytest.mark.parametrize("how", ["alone", "together"])
def test_a_run_that_is_stopped_as_a_unit_begins_leaves_no_process_behind(tmp_path, how):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        command = [sys.executable, "-c", RUN, folder, how, "stops its runner"]
        assert subprocess.run(command, env=environment, start_new_session=True, timeout=30).returncode == 128 + signal.SIGHUP
        assert all_end(folder / "pids")


def test_what_a_unit_came_to_is_its_exit_code(tmp_path):
    runner = run_tests.Runner(tmp_path, tmp_path, tmp_path)
    [ran] = runner.run_all([Unit("fails", "a step", ["/bin/sh", "-c", "echo said; exit 3"])], 1)
    assert ran.code == 3 and not ran.good
    assert ran.log.read_text() == "said\n"
