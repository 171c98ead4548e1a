"""Channel: JSON lines over a Unix stream socket. Descriptors are sent together with the line that they belong to."""

from __future__ import annotations

import array
import json
import os
import socket
from typing import Any

_MAX_FDS = 16
_MAX_LINE = 256 << 20


def control_socket() -> socket.socket:
    """Moves descriptor 3 to another number, out of reach of the task's code, and closes it on exec."""
    sock = socket.socket(fileno=os.dup(3))
    os.close(3)
    return sock


class Channel:
    """One end of a strict request-reply conversation. There are never two requests under way."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._buffer = bytearray()
        self._fds: list[int] = []

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, message: dict[str, Any], fds: list[int] | None = None) -> None:
        """Raises OSError if the other side is gone."""
        data = json.dumps(message, allow_nan=False, ensure_ascii=True).encode() + b"\n"
        if fds:
            sent = socket.send_fds(self._socket, [data], fds)
            data = data[sent:]
        self._socket.sendall(data)

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """Returns the next line and the descriptors that came with it, which the caller must close, or None at the end.
        """
        while True:
            end = self._buffer.find(b"\n")
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                fds, self._fds = self._fds, []
                return json.loads(line), fds
            if len(self._buffer) > _MAX_LINE:
                raise ValueError("a line of the conversation is too long")
            if not self._fill():
                return None

    def _fill(self) -> bool:
        size = array.array("i").itemsize
        data, ancillary, _, _ = self._socket.recvmsg(1 << 16, socket.CMSG_SPACE(_MAX_FDS * size))
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(payload[: len(payload) - len(payload) % size])
                for fd in fds:
                    os.set_inheritable(fd, False)
                self._fds.extend(fds)
        self._buffer += data
        return bool(data)


def close_all(fds: list[int]) -> None:
    for fd in fds:
        try:
            os.close(fd)
        except OSError:
            continue
