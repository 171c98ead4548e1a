"""Small files next to torch.compile's own cache. They are trusted as much as that cache: a task's code can write there,
candidates cannot."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
from typing import Any

import torch


def cache_folder(kind: str) -> pathlib.Path | None:
    """Returns the folder, which may not exist yet, or None if the client has no cache for us."""
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    return pathlib.Path(cache) / kind if cache else None


def cached_name(*about: Any) -> str:
    """Returns the name of the file about this JSON under this version of Torch."""
    return hashlib.sha256(json.dumps([torch.__version__, *about]).encode()).hexdigest()


def write_cached(path: pathlib.Path, text: str, most: int) -> None:
    """Writes the file completely or not at all. The oldest files beyond `most` are deleted. A disk that is full or not
    writable costs only time."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.stem}-{os.urandom(4).hex()}.new")  # other servers may write the same file
        fresh.write_text(text)
        fresh.replace(path)
        by_age = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)
        for old in by_age[:-most]:
            old.unlink()
