"""FilesRead: records which files of the task's folder its code read, so that a change of one is noticed."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from typing import Any


class FilesRead:
    """Records the files that are opened in the folder of `task` between construction and `stop`."""

    def __init__(self, task: str) -> None:
        self._task = _real(task)
        self._folder = os.path.join(os.path.dirname(self._task), "")
        self._paths: set[str] = set()
        self._noting = True
        sys.addaudithook(self._note)  # cannot be removed, so it must be fast once it has stopped

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self._noting and isinstance(arguments[0], (str, bytes)):
            self._paths.add(os.fsdecode(arguments[0]))

    def stop(self) -> None:
        self._noting = False

    def so_far(self) -> list[str]:
        """Returns the files without the task itself, relative to the folder. A module is listed by its source file,
        even if a compiled copy was read."""
        found = {_real(path) for path in self._paths | module_files()} - {self._task}
        names = (path.removeprefix(self._folder) for path in found if self.covers(path))
        return sorted(name for name in names if "__pycache__" not in name.split(os.sep))

    def covers(self, path: str) -> bool:
        return _real(path).startswith(self._folder)

    def paths(self) -> list[str]:
        """Returns the paths of the task and of every such file."""
        return [self._task, *(self._folder + name for name in self.so_far())]

    def digests(self) -> list[list[str]]:
        """Returns path and digest of each file."""
        return [[path, digest(path)] for path in self.paths()]


def module_files() -> set[str]:
    """Returns the files of all imported modules."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return {file for file in files if isinstance(file, str)}


def digest(path: str) -> str:
    """Returns an empty string for a file that cannot be read, such as one that was looked up in vain."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def _real(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(_real_folder(folder), name)


@functools.cache  # a thousand modules are in a hundred folders
def _real_folder(path: str) -> str:
    return os.path.realpath(path)
