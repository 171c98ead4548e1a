"""Descriptions, kept for the next time the same task is described.

Importing torch.export and tensors without storage, exporting, and running forward are nearly all of what
describing takes. They are left out where nothing that a description depends on has changed: Torch, every
other module that the task imports, what its folder gave, and the forms of its model and inputs. Kept as
JSON (cachefolder.py).
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

from pragma_torch.cachefolder import cache_folder, cached_name, write_cached
from pragma_torch.filesread import FilesRead, digest, module_files
from pragma_torch.memory import Need
from pragma_torch.plan import Plan

_MOST = 200  # tasks of one cache folder; the oldest go


class Kept:
    """Of a task whose file was just loaded. In this order: need, find, and keep when nothing was found."""

    def __init__(self, read: FilesRead) -> None:
        self._read = read
        self._files: list[list[str]] = []  # read before forward was run
        self._forms: Any = None
        self._path = cache_folder("described")
        self._found: dict[str, Any] = {}
        if self._path is not None:
            self._path /= cached_name(_modules(read), read.digests()) + ".json"
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found = json.loads(self._path.read_bytes())
                if all(digest(path) == known for path, known in found["files"]):
                    self._found = found

    @property
    def need(self) -> Need | None:
        return Need(*self._found["need"]) if self._found.get("need") else None

    def find(self, forms: Any) -> tuple[Plan, dict[str, Any]] | None:
        """`forms`: of the model and inputs; JSON."""
        self._forms = json.loads(json.dumps(forms))
        if self._found.get("forms") == self._forms:
            return Plan.from_json(self._found["plan"]), self._found["description"]
        if self._path is not None:
            self._files = self._read.digests()
        return None

    def keep(self, need: Need | None, plan: Plan, description: dict[str, Any]) -> None:
        """Not where forward read files of the task's folder: those may say something else next time."""
        if self._path is None or self._read.paths() != [path for path, _ in self._files]:
            return
        found = {
            "files": self._files,
            "need": need and [need.arguments, need.outputs, need.peak],
            "forms": self._forms,
            "plan": plan.to_json(),
            "description": description,
        }
        write_cached(self._path, json.dumps(found), _MOST)


def _modules(read: FilesRead) -> list[tuple[str, int, int]]:
    """Every imported file by when it was changed; not the task's own, which a jail may have copied."""
    found = []
    for path in sorted(module_files()):
        with contextlib.suppress(OSError):
            stat = os.stat(path)
            if not read.covers(path):
                found.append((path, stat.st_mtime_ns, stat.st_size))
    return found
