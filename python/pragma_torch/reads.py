"""Reads: where forward reads the value of a tensor, so that what it computes depends on data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from pragma_torch.lightmode import LightMode
from pragma_torch.taskfile import TaskFile

# Operators by which Python learns a value (item, bool, int, float), and those whose result's shape is such a value.
_READS = frozenset(("_local_scalar_dense", "equal", "is_nonzero"))
_SHAPES = frozenset(("nonzero", "masked_select", "unique_dim", "_unique2", "unique_consecutive", "unique_dim_consecutive"))


class _Watch(LightMode):
    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self.found: tuple[int, str] | None = None  # the line, and what happens there

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.overloadpacket.__name__
        if self.found is None and (name in _READS or name in _SHAPES):
            what = "reads a tensor's value" if name in _READS else "makes a tensor whose size depends on data"
            line = self._line()
            if line:
                self.found = line, what
        return function(*args, **(kwargs or {}))

    def _line(self) -> int:
        """Returns the line of the task's innermost frame, or 0."""
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self._path:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return 0


def first_read(task: TaskFile, forward: Callable[[], Any]) -> str:
    """Runs `forward`, which has worked before. Returns where it first reads a value and what to do, or ""."""
    watch = _Watch(task.path)
    with torch.no_grad(), watch:
        forward()
    if watch.found is None:
        return ""
    line, what = watch.found
    text = task.source.splitlines()[line - 1].strip()
    return f"line {line} ({text[:80]}) {what}; use tensors instead (torch.where, a mask, clamp), so that one graph fits all data"
