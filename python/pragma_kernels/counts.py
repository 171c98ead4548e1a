"""Counts: what happened to the calls of one module."""

from __future__ import annotations

import threading
from typing import Any

_lock = threading.Lock()


class Counts:
    """Calls that a kernel served, and those that the original forward served, by reason."""

    def __init__(self) -> None:
        self.calls = 0
        self.copied = 0
        self.errors = 0
        self.fallbacks: dict[str, int] = {}
        self.last: dict[str, str] = {}  # by reason, what was found last

    def fall_back(self, reason: str, found: str) -> None:
        with _lock:
            self.fallbacks[reason] = self.fallbacks.get(reason, 0) + 1
            if found:
                self.last[reason] = found

    def fail(self, error: Exception) -> None:
        with _lock:
            self.errors += 1
            self.last["error"] = f"{type(error).__name__}: {error}".splitlines()[0]

    def add_copies(self, kernel: Any) -> None:
        """Takes over the copies that a kernel has made. If threads call one kernel at once, a copy may be counted for the
        other thread's module."""
        with _lock:
            now = kernel.copies.value
            self.copied += now - kernel.copies_seen
            kernel.copies_seen = now
