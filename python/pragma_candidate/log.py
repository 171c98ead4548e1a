"""What a candidate prints goes to a pipe that is not read before the process ends. If the pipe is full, text is
dropped."""

from __future__ import annotations

import contextlib
import io
import os
import sys


class _Log(io.TextIOBase):
    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            os.write(self._fd, text.encode("utf-8", "replace"))
        return len(text)


def use_log() -> None:
    """Redirects output so that a print neither blocks nor raises."""
    sys.stdout, sys.stderr = _Log(1), _Log(2)
