"""What is slow to make and is made once for all processes of tools/run_tests.py."""

from __future__ import annotations

import fcntl
import os
import pathlib
import shutil
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
