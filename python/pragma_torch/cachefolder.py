"""Small files beside torch.compile's own cache, and trusted as much: a task's code can write there, candidates
cannot."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
from typing import Any

import torch


def cache_folder(kind: str) -> pathlib.Path | None:
    """None where the client has no cache for us. It may not exist yet."""
    cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    return pathlib.Path(cache) / kind if cache else None


def cached_name(*about: Any) -> str:
    """Of the file that says something about this JSON under this Torch."""
    return hashlib.sha256(json.dumps([torch.__version__, *about]).encode()).hexdigest()


def write_cached(path: pathlib.Path, text: str, most: int) -> None:
    """Whole or not at all; the oldest files above `most` go. A disk that is full or cannot be written costs
    time, nothing else."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(path)
        by_age = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)
        for old in by_age[:-most]:
            old.unlink()
