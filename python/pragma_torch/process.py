"""What a forked child sets up for itself: ending with its parent, threads, the allocator."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import signal
import socket
import traceback
from collections.abc import Callable, Iterator

_PR_SET_PDEATHSIG = 1
# glibc's mallopt parameters (malloc.h).
_M_TRIM_THRESHOLD = -1
_M_TOP_PAD = -2
_M_MMAP_THRESHOLD = -3
_M_MMAP_MAX = -4
_LARGE_BLOCK = (32 << 20) - (64 << 10)  # with its header below the largest threshold
_TOP_PAD = 64 << 20
_FILE_BYTES = 64 << 20
_MMAP_MAX = 65536  # number of mappings, glibc's default
_MMAP_THRESHOLD = 32 << 20  # the largest value that glibc accepts


def die_with_parent(parent: int) -> None:
    """Sends this process SIGKILL when the parent ends, or at once if it has already ended."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def fork_child(life: Callable[[], None]) -> int:
    """Forks a process that runs only `life`, and ends with this one. Returns its process id as seen from here."""
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


@contextlib.contextmanager
def imports() -> Iterator[None]:
    """Lets the garbage collector rest while torch is imported, and never look at what is there afterwards. Torch's
    modules are half a million objects that stay. Traversing them again and again takes an eighth of the import's time,
    and a third of the time in which a task is described."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def say_hello(fd: int, byte: bytes) -> None:
    """Sends one byte from this process itself, to which the kernel adds our process id as pragma sees it. Takes over
    the descriptor."""
    with socket.socket(fileno=fd) as end:
        end.sendall(byte)


def keep_freed_memory() -> bool:
    """Makes malloc never map single blocks and never return memory, so that outputs cost no page faults once the heap
    has grown. Returns False if the C library has no mallopt."""
    return _set_malloc(
        {
            _M_MMAP_THRESHOLD: _MMAP_THRESHOLD,
            _M_MMAP_MAX: 0,
            _M_TRIM_THRESHOLD: -1,
            _M_TOP_PAD: _TOP_PAD,
        }
    )


def return_freed_memory() -> bool:
    """Undoes keep_freed_memory for large blocks: each gets its own mapping, which is removed when it is freed."""
    return _set_malloc({_M_MMAP_THRESHOLD: _MMAP_THRESHOLD, _M_MMAP_MAX: _MMAP_MAX})


def free_a_large_block() -> None:
    """Leaves malloc as a program finds it that has loaded a model. Once it has freed a block of 32 MiB, malloc keeps
    freed blocks up to that size, where at first each one above 128 KiB is mapped anew (mallopt(3), M_MMAP_THRESHOLD)."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    library.malloc.argtypes = [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    library.free(library.malloc(_LARGE_BLOCK))


def _set_malloc(wanted: dict[int, int]) -> bool:
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return all(mallopt(name, value) == 1 for name, value in wanted.items())


def offer_memory_first(score: int) -> None:
    """If the system runs out of memory, it kills the process with the highest score (0 to 1000, 0 by default), weighted
    by its size."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write(str(score))
    except OSError:
        pass  # no /proc here: the system chooses by size alone


def limit_files(compiling: bool) -> None:
    """Limits how large a file may grow. Logs are in memory, so a process that runs the task's code gets little.
    Inductor's precompiled header alone has more than 100 MB, so a compiling child gets the hard limit.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    small = _FILE_BYTES if hard == resource.RLIM_INFINITY else min(_FILE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if compiling else small, hard))


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))
