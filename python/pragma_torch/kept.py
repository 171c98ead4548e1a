"""Kept: descriptions that are cached for the next time the same task is described.

Almost all the time of describing a task is spent on importing torch.export and tensors without storage, exporting, and
running forward. These steps are skipped if nothing on which a description depends has changed: Torch, every other
module that the task imports, the files from its folder, and the shapes of its model and inputs. Descriptions are cached
as JSON (cachefolder.py).
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

_MOST = 200  # tasks in one cache folder; the oldest are deleted


class Kept:
    """The cache entry of a task whose file was just loaded. Call need, then find, then keep if nothing was found."""

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
    def known(self) -> bool:
        """Whether there is a description, which find may still refuse."""
        return bool(self._found)

    @property
    def need(self) -> Need | None:
        return Need(*self._found["need"]) if self._found.get("need") else None

    def find(self, forms: Any) -> tuple[Plan, dict[str, Any]] | None:
        """`forms` is JSON with the shapes of the model and inputs."""
        self._forms = json.loads(json.dumps(forms))
        if self._found.get("forms") == self._forms:
            return Plan.from_json(self._found["plan"]), self._found["description"]
        if self._path is not None:
            self._files = self._read.digests()
        return None

    def keep(self, need: Need | None, plan: Plan, description: dict[str, Any]) -> None:
        """Does not store the description if forward read files of the task's folder, because their contents may differ
        next time."""
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
    """Returns every imported file with its modification time, except the task's own files, which a jail may have
    copied."""
    found = []
    for path in sorted(module_files()):
        with contextlib.suppress(OSError):
            stat = os.stat(path)
            if not read.covers(path):
                found.append((path, stat.st_mtime_ns, stat.st_size))
    return found
