"""The control page of worker/protocol.h as seen by a timing child: it waits for the doorbell and answers."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform

MAGIC = 0x414D4750
VERSION = 1

LOAD = 1
RUN = 2
EMPTY = 3
EXIT = 5
WAKE = 6
RELEASE = 8
DELIVER = 11

OK = 0
BAD_COMMAND = 2
RAISED = 3

# Offsets in units of 32-bit words.
_COMMAND = 2
_COUNT = 3
_RESULT = 4
_SCRAMBLE = 9
_REPEAT = 12
_DOORBELL = 16
_DONE = 32
_SETS = 48
_MAX_SETS = 64
# Offsets in bytes.
_MESSAGE = 448
_MESSAGE_SIZE = 480

_SYS_FUTEX = {"x86_64": 202, "aarch64": 98}
_FUTEX_WAIT = 0  # shared, not private: the other side is another process
_FUTEX_WAKE = 1


class ControlPage:
    """One control page. It blocks in the operating system while it waits for a command, and never spins."""

    def __init__(self, fd: int) -> None:
        """Raises ValueError if the page is not one of pragma's control pages, or for an unknown processor."""
        self._map = mmap.mmap(fd, os.fstat(fd).st_size)
        self._words = memoryview(self._map).cast("B")[: 4 * (_SETS + _MAX_SETS)].cast("I")
        if self._words[0] != MAGIC or self._words[1] != VERSION:
            raise ValueError("not a control page of this version")
        if platform.machine() not in _SYS_FUTEX:
            raise ValueError(f"no futex number known for {platform.machine()}")
        base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        syscall = ctypes.CDLL(None, use_errno=False).syscall
        syscall.restype = ctypes.c_long
        pointer, word, none = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p(None)
        self._syscall = syscall
        self._number = ctypes.c_long(_SYS_FUTEX[platform.machine()])
        self._bell = pointer(base + 4 * _DOORBELL)
        self._done = pointer(base + 4 * _DONE)
        self._wait = ctypes.c_int(_FUTEX_WAIT)
        self._wake = ctypes.c_int(_FUTEX_WAKE)
        self._word = word
        self._none = none
        self._one = ctypes.c_int(1)
        self._zero = ctypes.c_int(0)
        self._served = self._words[_DONE]
        # What the command that wait returned came with (worker/protocol.h):
        self.scramble = 0  # seed; 0: none
        self.repeat = 0  # calls in a loop for the only set; 0: an ordinary RUN

    def wait(self) -> tuple[int, list[int]]:
        """Blocks until the doorbell rings. Returns the command and its input sets in order."""
        words = self._words
        served = self._served
        while words[_DOORBELL] == served:
            self._syscall(
                self._number,
                self._bell,
                self._wait,
                self._word(served),
                self._none,
                self._none,
                self._zero,
            )
        self._served = words[_DOORBELL]
        self.scramble = words[_SCRAMBLE]
        self.repeat = words[_REPEAT]
        return words[_COMMAND], words[_SETS : _SETS + min(words[_COUNT], _MAX_SETS)].tolist()

    def answer(self, result: int) -> None:
        words = self._words
        words[_RESULT] = result
        words[_DONE] = self._served
        self._syscall(
            self._number, self._done, self._wake, self._one, self._none, self._none, self._zero
        )

    def say(self, text: str) -> None:
        """Writes text for pragma's log, shortened to what fits into the page."""
        data = text.encode("utf-8", "replace")[: _MESSAGE_SIZE - 1]
        self._map[_MESSAGE : _MESSAGE + len(data) + 1] = data + b"\0"
