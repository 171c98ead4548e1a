"""Passes what a candidate compiled to its later processes: a folder, stored in a memfd that pragma owns.

So nothing of it is ever on a disk, and its size is limited. Times are kept to the nanosecond, because build tools
decide by them. The first process finds the memory empty and fills it. pragma seals it after that process's first run.
"""

from __future__ import annotations

import json
import os

_HEAD = 16  # length of the index in decimal digits


def restore(fd: int, folder: str) -> bool:
    """Unpacks into `folder`. Returns False if nothing is stored yet."""
    head = os.pread(fd, _HEAD, 0).strip(b"\0 ")
    if not head:
        return False
    index = json.loads(os.pread(fd, int(head), _HEAD))
    at = _HEAD + int(head)
    for path, mode, nanoseconds, size in index:
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as stream:
            stream.write(_read(fd, size, at))
        os.chmod(full, mode)
        os.utime(full, ns=(nanoseconds, nanoseconds))
        at += size
    return True


def save(fd: int, folder: str) -> None:
    """Packs `folder`. If it is larger than the memory, nothing is stored and it is compiled again next time."""
    files = sorted(
        os.path.join(root, name)
        for root, _, names in os.walk(folder)
        for name in names
        if os.path.isfile(os.path.join(root, name))
    )
    stats = [os.stat(path) for path in files]
    index = json.dumps(
        [
            [os.path.relpath(path, folder), stat.st_mode & 0o777, stat.st_mtime_ns, stat.st_size]
            for path, stat in zip(files, stats, strict=True)
        ]
    ).encode()
    if _HEAD + len(index) + sum(stat.st_size for stat in stats) > os.fstat(fd).st_size:
        return
    at = _HEAD + len(index)
    for path, stat in zip(files, stats, strict=True):
        with open(path, "rb") as stream:
            at = _write(fd, stream.read(stat.st_size), at)
    _write(fd, index, _HEAD)
    _write(fd, str(len(index)).encode().ljust(_HEAD), 0)  # last, because now the contents are valid


def _read(fd: int, size: int, at: int) -> bytes:
    parts = []
    while size > 0:
        part = os.pread(fd, size, at)
        if not part:
            raise EOFError("what an earlier process kept is cut short")
        parts.append(part)
        size -= len(part)
        at += len(part)
    return b"".join(parts)


def _write(fd: int, data: bytes, at: int) -> int:
    while data:
        written = os.pwrite(fd, data, at)
        data = data[written:]
        at += written
    return at
