"""Errors that reach the user: one clear line, and the end of a traceback as detail."""

from __future__ import annotations

import re
import traceback

_DETAIL_FRAMES = 4
_ALLOCATION = re.compile(r"tried to allocate (\d+) bytes")


class TaskError(Exception):
    """An error in the task file itself. `message` is one line, `detail` is a few lines of traceback."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class ServerError(Exception):
    """An error of the server, or a request that cannot be served as it is."""


def one_line(text: str, limit: int = 300) -> str:
    """Returns the first meaningful line of `text`, at most `limit` characters."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    line = lines[0] if lines else ""
    return line if len(line) <= limit else line[: limit - 3] + "..."


def said_by(error: BaseException, limit: int = 300) -> str:
    """Returns an exception's message as one line. For a compiler's output it is the first error, not the command."""
    text = str(error)
    compiler = [line.strip() for line in text.splitlines() if "error:" in line.lower()]
    if len(text.splitlines()) < 2 or not compiler:
        return one_line(text, limit)
    return f"{one_line(text, limit // 3)}; {one_line(compiler[0], limit)}"


def traceback_tail(error: BaseException, path: str) -> str:
    """Returns the traceback from the task's own first frame on, shortened to its last frames."""
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, frame in enumerate(frames) if frame.filename == path), None)
    if first is None:
        return "".join(traceback.format_exception_only(type(error), error)).strip()
    own = frames[first:]
    shown = own[:1] + own[1:][-(_DETAIL_FRAMES - 1) :]
    lines = traceback.format_list(shown) + traceback.format_exception_only(type(error), error)
    return "".join(lines).strip()


def task_error(file: str, what: str, error: BaseException, path: str) -> TaskError:
    """Turns `error`, which the task's code raised while doing `what`, into one clear line."""
    if isinstance(error, TaskError):
        return error
    memory = out_of_memory(error)
    if memory is not None:
        return TaskError(f"{file}: {what} {memory}")
    if isinstance(error, SystemExit):
        return TaskError(f"{file}: {what} ends the program (exit code {error.code})")
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    where = f" (line {lines[-1]})" if lines else ""
    said = said_by(error)
    name = type(error).__name__
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    todo = f"; install {missing} alongside torch, if it is a package" if missing else ""
    return TaskError(
        f"{file}: {what} raises {name}{': ' + said if said else ''}{where}{todo}",
        traceback_tail(error, path),
    )


def out_of_memory(error: BaseException) -> str | None:
    """Returns what ran out and how much was requested, or None if `error` has another cause."""
    match = _ALLOCATION.search(str(error))
    if match:
        return f"runs out of memory: one tensor alone needs {format_bytes(int(match.group(1)))}"
    if isinstance(error, MemoryError):
        return "runs out of memory"
    return None


def format_bytes(count: float) -> str:
    """ "1.5 GiB", "320 B"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"
