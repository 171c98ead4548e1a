"""pragma show --watch: follows a run that another process works on."""

import fcntl
import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess

import pytest
import report_browser

LIMIT_SECONDS = 120


class LiveRun:
    """A finished run set back to the middle, which the test lets go on. It is held meanwhile, as by a
    process that works on it: a watcher gives up after two seconds where nobody does."""

    def __init__(self, home, run):
        self.home, self.run = home, run
        self.lock = open(home / "lock", "r+b")
        with self.database() as database:
            number = database.execute("SELECT number FROM run WHERE id = ?", (run,)).fetchone()[0]
            fcntl.lockf(self.lock, fcntl.LOCK_EX, 1, number)
            self.later = database.execute("SELECT * FROM trial WHERE node > 2 ORDER BY node").fetchall()
            self.ended = database.execute("SELECT stopped FROM run WHERE id = ?", (run,)).fetchone()[0]
            database.execute("DELETE FROM trial WHERE node > 2")
            database.execute("UPDATE run SET state = 'running', stopped = ''")

    def database(self):
        return sqlite3.connect(self.home / "pragma.db", timeout=30)

    def append(self):
        """The next attempt; returns its number."""
        row = self.later.pop(0)
        with self.database() as database:
            marks = ",".join("?" * len(row))
            database.execute(f"INSERT INTO trial VALUES ({marks})", row)
        return row[1]

    def finish(self):
        with self.database() as database:
            database.execute("UPDATE run SET state = 'finished', stopped = ?", (self.ended,))

    def watch(self, *flags, **streams):
        return subprocess.Popen([report_browser.BUILD / "pragma", "show", "last", "--watch", "--home", self.home, *flags],
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, **streams)


@pytest.fixture
def live(store, tmp_path):
    home, run, other = store
    shutil.copytree(home, tmp_path / "home")
    with sqlite3.connect(tmp_path / "home" / "pragma.db") as database:
        number = database.execute("SELECT number FROM run WHERE id = ?", (other,)).fetchone()[0]
        for table in ("trial", "call"):
            database.execute(f"DELETE FROM {table} WHERE run = ?", (number,))
        database.execute("DELETE FROM run WHERE number = ?", (number,))
    run = LiveRun(tmp_path / "home", run)
    yield run
    run.lock.close()


def test_prints_each_attempt_as_it_comes_and_ends_with_the_run(live):
    watching = live.watch(stdout=subprocess.PIPE, text=True)
    assert watching.stdout.readline().startswith("attempt 1/8: ")
    assert watching.stdout.readline().startswith("attempt 2/8: ")
    node = live.append()
    assert watching.stdout.readline().startswith(f"attempt {node}/8: ")
    live.finish()
    rest = watching.stdout.read()
    assert watching.wait(LIMIT_SECONDS) == 0, watching.stderr.read()
    assert "state     finished" in rest and "vs eager" in rest
    assert "\x1b" not in rest


def test_redraws_on_a_terminal(live):
    ours, theirs = pty.openpty()
    watching = live.watch(stdout=theirs)
    os.close(theirs)
    seen = b""
    while b"running" not in seen:
        seen += os.read(ours, 65536)
    assert seen.startswith(b"\x1b[H\x1b[2J")
    live.append()
    live.finish()
    try:
        while True:
            seen += os.read(ours, 65536)
    except OSError:
        pass  # the other side is closed
    os.close(ours)
    assert watching.wait(LIMIT_SECONDS) == 0
    assert seen.count(b"\x1b[2J") >= 2 and b"finished" in seen


def test_ctrl_c_ends_it_at_once_and_cleanly(live):
    watching = live.watch(stdout=subprocess.PIPE, text=True)
    watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=LIMIT_SECONDS)
    assert watching.returncode == 130
    assert errors == b"" or errors == ""


def test_json_is_one_object_when_the_run_has_ended(live):
    watching = live.watch("--json", stdout=subprocess.PIPE, text=True)
    live.append()
    live.finish()
    out, _ = watching.communicate(timeout=LIMIT_SECONDS)
    assert len(json.loads(out)["trials"]) == 3


def test_a_run_that_nobody_works_on_ends_it_with_what_to_do(live):
    live.lock.close()
    watching = live.watch(stdout=subprocess.PIPE, text=True)
    _, errors = watching.communicate(timeout=LIMIT_SECONDS)
    assert watching.returncode == 3
    assert f"pragma resume {live.run}" in (errors if isinstance(errors, str) else errors.decode())


def test_one_attempt_cannot_be_watched(store):
    _, errors = report_browser.program("show", "last", "--watch", "--node", 1, "--home", store[0], code=2)
    assert "--node" in errors
