"""The server's side of a conversation: one request per line, and a reply to each (docs/torch-protocol.md)."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from pragma_torch.channel import Channel, close_all
from pragma_torch.errors import ServerError, TaskError, one_line

# Takes a request and the descriptors that came with it, and returns the fields of the reply.
Operation = Callable[[dict[str, Any], list[int]], dict[str, Any] | None]


def converse(channel: Channel, operations: dict[str, Operation]) -> None:
    """Serves one client until it quits or closes the socket."""
    while True:
        request = channel.receive()
        if request is None or request[0].get("op") == "quit":
            return
        message, fds = request
        try:
            reply = _answer(operations, message, fds)
        finally:
            close_all(fds)
        reply["id"] = message.get("id")
        channel.send(reply)


def _answer(operations: dict[str, Operation], message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
    """Returns a reply in any case. Errors are reported by kind ("task": caused by the file; "request")."""
    try:
        operation = operations.get(message.get("op", ""))
        if operation is None:
            raise ServerError(f"unknown operation {message.get('op')!r}")
        return {"ok": True} | (operation(message, fds) or {})
    except TaskError as error:
        return _error("task", error.message, error.detail)
    except (ServerError, ValueError, KeyError, TypeError, OSError) as error:
        return _error("request", one_line(str(error)) or type(error).__name__, traceback.format_exc())
    except BaseException as error:
        traceback.print_exc()
        return _error("internal", f"{type(error).__name__}: {one_line(str(error))}", traceback.format_exc())


def _error(kind: str, message: str, detail: str) -> dict[str, Any]:
    return {"error": {"kind": kind, "message": message, "detail": detail}}
