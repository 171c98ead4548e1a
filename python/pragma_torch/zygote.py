"""The zygote: a process that has imported torch, is held at one thread, never runs a parallel region, and forks.

A process forked after a parallel region hangs in its next one, because the pool's threads are gone. So timing children
are forked here and not by the server. The task's code runs only after the fork.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

from pragma_torch.channel import Channel, close_all
from pragma_torch.errors import ServerError
from pragma_torch.process import fork_child, imports, limit_files, thread_count


class Zygote:
    """The server's handle of the zygote. It must be started first, while the caller still has only one thread."""

    def __init__(self, client: Channel, device: str = "cpu", timers: str = "compile") -> None:
        """`client` is closed in the zygote. `timers` are the children that are expected (none, eager, compile). Others
        work too, but start later. Raises ServerError if other threads already exist."""
        if thread_count() != 1:
            raise ServerError(f"cannot fork a clean zygote: {thread_count()} threads exist already")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

        def life() -> None:
            ours.close()
            client.close()
            _serve(Channel(theirs), device, timers)

        fork_child(life)
        theirs.close()
        self._channel = Channel(ours)

    def ask(self, message: dict[str, Any], fds: list[int] | None = None) -> dict[str, Any]:
        """Raises ServerError if the zygote is gone or refuses."""
        try:
            self._channel.send(message, fds)
            answer = self._channel.receive()
        except OSError as error:
            raise ServerError(f"the timing zygote is gone: {error}") from error
        if answer is None:
            raise ServerError("the timing zygote is gone")
        reply, _ = answer
        if "error" in reply:
            raise ServerError(str(reply["error"]))
        return reply


def _preload(timers: str, device: str) -> None:
    """Imports what children of this mode need, once for all of them. Starts no OpenMP thread."""
    if timers == "none":
        return
    if device == "cpu":
        # The OpenMP library reads this when torch loads it. Each thread gets its own processor, as for candidates
        # (harness/worker_process.cc). Otherwise two threads share one for milliseconds after a thaw.
        os.environ["OMP_PROC_BIND"] = "true"
        os.environ["OMP_PLACES"] = ",".join(f"{{{cpu}}}" for cpu in sorted(os.sched_getaffinity(0)))
    else:
        # If they were bound, the first threads of all children would share one processor. Importing the compiler asks
        # whether there is a GPU. If the driver's management library answers, CUDA is not started, which would not
        # survive a fork.
        os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    with imports():  # so that a child's collections do not copy the pages of what is loaded now
        import torch

        if timers == "compile":
            import torch._dynamo
            import torch._inductor.compile_fx  # noqa: F401

        import pragma_torch.timing  # noqa: F401  what a child runs

    torch.set_num_threads(1)


def _prepare_compile() -> None:
    """Asks the compiler for the vector instruction set (in a separate process), once for all children."""
    try:
        from torch._inductor.cpu_vec_isa import pick_vec_isa

        pick_vec_isa()
    except Exception as error:
        print(f"pragma_torch: inductor's vector check fails: {error}", file=sys.stderr)


def _serve(channel: Channel, device: str, timers: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the children
    _preload(timers, device)
    loaded = {"none": set(), "eager": {"eager"}, "compile": {"eager", "compile"}}[timers]
    while True:
        request = channel.receive()
        if request is None:
            os._exit(0)
        message, fds = request
        if message["op"] == "ready":
            channel.send({"ok": True, "threads": thread_count()})
            continue
        try:
            if message["mode"] not in loaded:
                _preload(message["mode"], device)
                loaded.add(message["mode"])
            if message["mode"] == "compile" and device == "cpu":
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                limit_files(compiling=True)
                _prepare_compile()
                limit_files(compiling=False)
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            reply = _fork_timer(channel, message, fds, device)
        except OSError as error:
            reply = {"error": f"cannot fork a timing child: {error}"}
        close_all(fds)
        channel.send(reply)


def _fork_timer(
    channel: Channel, message: dict[str, Any], fds: list[int], device: str
) -> dict[str, Any]:
    if len(fds) != 3:
        return {"error": f"spawn_timer takes three descriptors, got {len(fds)}"}
    # For a GPU the import of the compiler starts a thread that only waits. Children run nothing in parallel.
    if thread_count() != 1 and device == "cpu":
        return {"error": f"the zygote has {thread_count()} threads; a fork now would hang"}
    sys.stdout.flush()
    sys.stderr.flush()

    def life() -> None:
        from pragma_torch.timing import run_child

        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        channel.close()
        run_child(message, *fds)

    fork_child(life)
    return {"ok": True}
