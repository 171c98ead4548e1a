"""What a forked child sets up for itself: dying with its parent, threads, the allocator."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import traceback
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
# glibc's mallopt parameters (malloc.h).
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_THRESHOLD = -3
_M_MMAP_MAX = -4
_TOP_PAD = 64 << 20
_FILE_BYTES = 64 << 20
_MMAP_MAX = 65536  # mappings, glibc's default
_MMAP_THRESHOLD = 32 << 20  # the largest that glibc takes


def die_with_parent(parent: int) -> None:
    """SIGKILL when the parent ends; at once when it has ended already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def fork_child(life: Callable[[], None]) -> int:
    """A process that does nothing but `life`, and dies with this one. Returns its id as we see it."""
    parent = os.getpid()
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        die_with_parent(parent)
        life()
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def say_hello(fd: int, byte: bytes) -> None:
    """One byte, sent by this process itself: the kernel adds our process id as pragma sees it. Takes
    the descriptor."""
    with socket.socket(fileno=fd) as end:
        end.sendall(byte)


def keep_freed_memory() -> bool:
    """malloc never maps a block of its own and never gives memory back, so outputs cost no page
    faults once the heap has grown. False where the C library has no mallopt."""
    return _set_malloc(
        {
            _M_MMAP_THRESHOLD: _MMAP_THRESHOLD,
            _M_MMAP_MAX: 0,
            _M_TRIM_THRESHOLD: -1,
            _M_TOP_PAD: _TOP_PAD,
        }
    )


def return_freed_memory() -> bool:
    """Undoes keep_freed_memory for large blocks: each is a mapping of its own, gone when it is freed."""
    return _set_malloc({_M_MMAP_THRESHOLD: _MMAP_THRESHOLD, _M_MMAP_MAX: _MMAP_MAX})


def _set_malloc(wanted: dict[int, int]) -> bool:
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return all(mallopt(name, value) == 1 for name, value in wanted.items())


def offer_memory_first(score: int) -> None:
    """Where the system runs out of memory it ends the process with the highest score (0 to 1000, an
    ordinary process has 0), weighed with its size."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write(str(score))
    except OSError:
        pass  # no /proc here: the system chooses by size alone


def limit_files(compiling: bool) -> None:
    """How large a file may grow. Logs lie in memory, so whatever runs the task's code gets little;
    inductor's precompiled header alone has more than 100 MB, so a compiling child gets all there is.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    small = _FILE_BYTES if hard == resource.RLIM_INFINITY else min(_FILE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if compiling else small, hard))


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))
