"""Starts the real server as pragma does (without the jail), on a socket pair."""

from __future__ import annotations

import ctypes
import mmap
import os
import pathlib
import socket
import struct
import subprocess
import sys
import textwrap
import time
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pragma_torch import control  # noqa: E402
from pragma_torch.channel import Channel  # noqa: E402
from pragma_torch.plan import DTYPES  # noqa: E402

ALIGNMENT = 64
THREADS = 2


def align(count: int) -> int:
    return (count + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def spec_bytes(spec: dict[str, Any], wide: bool = False) -> int:
    dtype = DTYPES[spec["dtype"]]
    size = 8 if wide and dtype.is_floating_point else dtype.itemsize
    for n in spec["shape"]:
        size *= n
    return size


def layout(specs: list[dict[str, Any]], wide: bool = False) -> tuple[list[int], int]:
    """Packed offsets and total, as task/set_layout.h packs them."""
    offsets, total = [], 0
    for spec in specs:
        offsets.append(total)
        total += align(spec_bytes(spec, wide))
    return offsets, max(total, 1)


class Memory:
    """A memfd of the test's own."""

    def __init__(self, size: int) -> None:
        self.fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        self.map = mmap.mmap(self.fd, size)


class Server:
    """A running pragma_torch server; `ask` returns the reply whatever it says."""

    def __init__(self, tmp_path: pathlib.Path, command: list[str]) -> None:
        ours, theirs = socket.socketpair()
        env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TORCHINDUCTOR_CACHE_DIR": f"{tmp_path}-cache",  # outside the task's folder
            "TORCH_EXTENSIONS_DIR": str(tmp_path / "extensions"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        } | {k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"}
        number = theirs.fileno()
        place = f"import os, sys; os.dup2({number}, 3); {number} == 3 or os.close({number}); "
        place += "os.execv(sys.executable, [sys.executable, '-m', 'pragma_torch', *sys.argv[1:]])"
        self.log = tmp_path / "server.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", place, *command],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(number,),
            )
        theirs.close()
        self.channel = Channel(ours)
        hello = self.channel.receive()
        assert hello is not None, self.log.read_text()
        self.hello = hello[0]

    def ask(self, op: str, fds: list[int] | None = None, **fields: Any) -> dict[str, Any]:
        self.channel.send({"op": op, "id": 1, **fields}, fds)
        reply = self.channel.receive()
        assert reply is not None, self.log.read_text()
        return reply[0]

    def close(self) -> None:
        self.channel.close()
        self.process.wait(timeout=30)


class Timer:
    """pragma's end of a timing child."""

    def __init__(
        self,
        server: Server,
        mode: str,
        allocator: str,
        inputs: Memory,
        offsets: list[list[int]],
        compile_mode: str = "default",
    ) -> None:
        self._control = Memory(4096)
        struct.pack_into("II", self._control.map, 0, control.MAGIC, control.VERSION)
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        reply = server.ask(
            "spawn_timer",
            [inputs.fd, self._control.fd, theirs.fileno()],
            mode=mode,
            allocator=allocator,
            offsets=offsets,
            compile_mode=compile_mode,
        )
        assert reply.get("ok"), reply
        theirs.close()
        data, ancillary, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(12))
        assert data == b"T"
        self.pid = struct.unpack("iii", ancillary[0][2])[0]
        self.pidfd = os.pidfd_open(self.pid)

    def ring(self, command: int, sets: list[int] = ()) -> tuple[int, str]:  # type: ignore[assignment]
        return ring_bell(self._control, self.pid, command, sets)


def ring_bell(page: Memory, pid: int, command: int, sets: list[int] = (), repeat: int = 0) -> tuple[int, str]:  # type: ignore[assignment]
    """Result and message; fails the test when the process dies instead."""
    m = page.map
    base = ctypes.addressof(ctypes.c_char.from_buffer(m))
    struct.pack_into("II", m, 8, command, len(sets))
    struct.pack_into("I", m, 48, repeat)
    struct.pack_into(f"{len(sets)}I", m, 192, *sets)
    ticket = struct.unpack_from("I", m, 64)[0] + 1
    struct.pack_into("I", m, 64, ticket)
    ctypes.CDLL(None).syscall(202, ctypes.c_void_p(base + 64), 1, 1, None, None, 0)
    deadline = time.monotonic() + 300
    while struct.unpack_from("I", m, 128)[0] != ticket:
        assert time.monotonic() < deadline
        died = has_died(pid)  # looked up before the answer, because a process that was told to exit answers first
        assert struct.unpack_from("I", m, 128)[0] == ticket or not died, "the process died"
        time.sleep(0.001)
    message = m[448:960].split(b"\0", 1)[0].decode()
    return struct.unpack_from("I", m, 16)[0], message


def has_died(pid: int) -> bool:
    """Tells whether the process has ended, even if it has not been waited for yet."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rpartition(") ")[2][:1] in ("Z", "X")


class Harness:
    """Starts servers on task texts. Their timing children import torch only when one is asked for, which takes seconds.
    """

    def __init__(self, tmp_path: pathlib.Path) -> None:
        self.folder = tmp_path
        self._servers: list[Server] = []

    def write(self, text: str, name: str = "task.py") -> pathlib.Path:
        path = self.folder / name
        path.write_text("import torch\nimport torch.nn as nn\n" + textwrap.dedent(text))
        return path

    def start(self, *more: str) -> Server:
        options = ["--threads", str(THREADS), "--timers", "none", *more]
        self._servers.append(Server(self.folder, ["serve", *options]))
        return self._servers[-1]

    def describe(self, text: str, *more: str) -> tuple[Server, dict[str, Any]]:
        server = self.start(*more)
        reply = server.ask("describe", task=str(self.write(text)))
        assert reply.get("ok"), reply
        return server, reply["task"]

    def close(self) -> None:
        for server in self._servers:
            server.close()


class OneServer(Harness):
    """All tasks are described to one server, one after the other."""

    def start(self, *more: str) -> Server:
        return self._servers[0] if self._servers else super().start(*more)


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory):
    """For tests that leave their server as it was. It imports torch once for all of them."""
    made = OneServer(tmp_path_factory.mktemp("server"))
    yield made
    made.close()


@pytest.fixture
def harness(tmp_path: pathlib.Path):
    made = Harness(tmp_path)
    yield made
    made.close()
