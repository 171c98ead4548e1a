"""Zygote: a process that has imported torch and Triton, and forks a process for every worker of one Triton module.

It runs no code of the candidate and never starts CUDA, which does not survive a fork. Its children share its jail, its
user and a folder for what they compile. They can kill the zygote (which rejects their candidate), but cannot read or
write its memory.

    {"op": "fork", "module": TEXT} + control page, area socket, hello socket  ->  {"pid": N}
    {"op": "end", "pid": N}  ->  {"status": N}   as wait(2) returns it; the child must be dead
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import sys
import tempfile
from typing import Any

from pragma_candidate.late_filter import LateFilter
from pragma_candidate.log import use_log
from pragma_torch.channel import Channel, close_all
from pragma_torch.process import fork_child, imports, say_hello

_CHANNEL_FD, _LATE_FD = 3, 8
_PR_SET_DUMPABLE = 4


def _preload() -> None:
    """Imports everything that a module's first call would import."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # checks for a GPU without starting CUDA
    with imports():
        import torch
        import triton
        import triton.language  # noqa: F401
        import triton.runtime.autotuner

        if os.environ.get("TRITON_INTERPRET") == "1":
            import triton.runtime.interpreter  # noqa: F401
        else:
            import triton.backends.nvidia.compiler  # noqa: F401
            from triton.runtime.driver import driver

            driver.active  # noqa: B018  compiles Triton's own helper, half a second; starts no CUDA

        import pragma_candidate.service  # noqa: F401
        import pragma_triton.kernels  # noqa: F401

    torch.set_num_threads(1)


class Zygote:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._folder = tempfile.mkdtemp(prefix="pragma-")
        os.chmod(self._folder, 0o700)
        for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"):
            os.environ[name] = os.path.join(self._folder, name.lower())

    def serve(self) -> None:
        """Serves until pragma closes its end."""
        while True:
            request = self._channel.receive()
            if request is None:
                break
            message, fds = request
            try:
                answer = self._fork(message, fds) if message["op"] == "fork" else self._end(message)
            finally:
                close_all(fds)
            self._channel.send(answer)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _fork(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        return {"pid": fork_child(lambda: self._become_worker(message["module"], *fds))}

    def _become_worker(self, module: str, control: int, area: int, hello: int) -> None:
        self._channel.close()
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        say_hello(hello, b"W")
        from pragma_candidate.service import Service
        from pragma_triton.kernels import Kernels

        Service(control, Kernels(area, module), LateFilter(_LATE_FD), threads=1).serve()

    def _end(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            _, status = os.waitpid(message["pid"], 0)
        except OSError:
            status = -1
        return {"status": status}


def main() -> int:
    os.umask(0o077)
    use_log()
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    channel = Channel(socket.socket(fileno=os.dup(_CHANNEL_FD)))
    os.close(_CHANNEL_FD)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    zygote = Zygote(channel)  # its folder is where Triton stores what it compiles
    _preload()
    zygote.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
