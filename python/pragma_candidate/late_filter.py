"""The second seccomp filter, which forbids new processes and programs. worker/jail/confine.c makes it."""

from __future__ import annotations

import ctypes
import os
import platform

_SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER = 1
_ALL_THREADS = 1
_INSTRUCTION = 8  # bytes of struct sock_filter


class _Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class LateFilter:
    """The filter is read at the start, and installed once the candidate has run for the first time."""

    def __init__(self, fd: int) -> None:
        code = os.pread(fd, 1 << 16, 0)
        os.close(fd)
        self._code = ctypes.create_string_buffer(code, len(code))
        self._program = _Program(len(code) // _INSTRUCTION, ctypes.addressof(self._code))
        self._number = _SYS_SECCOMP[platform.machine()]
        self._call = ctypes.CDLL(None, use_errno=True).syscall

    def install(self) -> None:
        """Installs the filter permanently for every thread. Raises OSError."""
        done = self._call(
            self._number, _SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(self._program)
        )
        if done != 0:
            raise OSError(ctypes.get_errno(), "cannot install the second seccomp filter")
