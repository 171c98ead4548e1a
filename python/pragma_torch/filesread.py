"""FilesRead: which files of the task's folder its code read, so that a change of one is noticed."""

from __future__ import annotations

import os
import sys
from typing import Any


class FilesRead:
    """Notes what is opened under `folder` from its creation until `stop`."""

    def __init__(self, folder: str, but: str) -> None:
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._but = os.path.realpath(but)
        self._paths: set[str] = set()
        self._noting = True
        sys.addaudithook(self._note)  # stays for good, so it must be quick once it has stopped

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self._noting and isinstance(arguments[0], (str, bytes)):
            self._paths.add(os.fsdecode(arguments[0]))

    def stop(self) -> list[str]:
        """Relative to the folder, without `but`; modules by their source, though a compiled copy was read."""
        self._noting = False
        for module in list(sys.modules.values()):
            source = getattr(module, "__file__", None)
            if isinstance(source, str):
                self._paths.add(source)
        found = {os.path.realpath(path) for path in self._paths} - {self._but}
        names = (p.removeprefix(self._folder) for p in found if p.startswith(self._folder))
        return sorted(name for name in names if "__pycache__" not in name.split(os.sep))
