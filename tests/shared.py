"""What is slow to make and is made once for all processes of tools/run_tests.py."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pathlib
import shutil
import sqlite3
import subprocess
from collections.abc import Callable

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PRAGMA = pathlib.Path(os.environ.get("PRAGMA_BUILD", HERE.parent / "build")).resolve() / "pragma"


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[pathlib.Path], object]) -> pathlib.Path:
    """A folder that `make` has filled. What is in it must stay as it is."""
    base = pathlib.Path(os.environ.get("PRAGMA_TEST_SHARED") or factory.getbasetemp())
    folder, made = base / name, base / f"{name}.made"
    with open(base / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a failed attempt has left
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


def measured_home(factory: pytest.TempPathFactory) -> pathlib.Path:
    """A store with this machine's figures, and with the result of sanitizers for the good kernel."""

    def make(folder: pathlib.Path) -> None:
        files = [HERE / "e2e" / "tasks" / "scale.py", HERE / "e2e" / "kernels" / "good.cpp"]
        command = [PRAGMA, "evaluate", *files, "--no-timing", "--sanitize", "--home", folder / ".pragma"]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"

    return made_once(factory, "home", make) / ".pragma"


def copied_home(home: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """A copy of a store that shares its descriptions of tasks: describing one takes longer than judging a kernel."""
    described = pathlib.Path("cache") / "torch" / "described"
    not_copied = {home: ["lock", "pragma.db", "pragma.db-shm", "pragma.db-wal"], home / described.parent: [described.name]}

    def left_out(folder: str, names: list[str]) -> list[str]:
        # Builds of other tests come and go under names of their own.
        building = [name for name in names if name.startswith("pragma-") and pathlib.Path(folder).name == "build"]
        return not_copied.get(pathlib.Path(folder), []) + building

    shutil.copytree(home, to, ignore=left_out, dirs_exist_ok=True)
    # Other tests copy the same store at the same time. SQLite's files come and go while they read it.
    with (
        contextlib.closing(sqlite3.connect(home / "pragma.db")) as store,
        contextlib.closing(sqlite3.connect(to / "pragma.db")) as copy,
    ):
        store.backup(copy)
    (to / described).symlink_to((home / described).resolve())
    return to
