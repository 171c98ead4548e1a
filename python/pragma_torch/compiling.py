"""KernelHeaders: whether torch.compile's C++ headers are worth compiling ahead.

Inductor compiles them once for a set of flags (ten seconds), which saves three seconds a kernel, and in
every process spends more than one to see that they still are the same, even where each kernel lies in its
cache. So modules of few parts, which become few kernels, go without, and so does what was compiled with
this cache before; where its kernels are not there any more, compiling takes longer, nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pathlib
from typing import Any

import torch

_OPTION = "cpp_cache_precompile_headers"
_FEW_PARTS = 8  # modules within a model
_MOST = 1000  # notes of one cache folder; the oldest go


class KernelHeaders:
    """Of one task as it is compiled in this process. `about`: JSON, all that its kernels hang on."""

    def __init__(self, about: Any) -> None:
        cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
        name = hashlib.sha256(json.dumps([torch.__version__, about]).encode()).hexdigest()
        self._note = pathlib.Path(cache) / "compiled" / name if cache else None

    def choose(self, model: torch.nn.Module) -> None:
        """Before the first call of what torch.compile returned."""
        known = self._note is not None and self._note.exists()
        few = sum(1 for _ in model.modules()) <= _FEW_PARTS
        if known or few:
            from torch._inductor import config

            if hasattr(config, _OPTION):  # a Torch that does not know it compiles no header ahead
                setattr(config, _OPTION, False)

    def compiled(self) -> None:
        """After it. A disk that is full or cannot be written costs time, nothing else."""
        if self._note is None:
            return
        with contextlib.suppress(OSError):
            self._note.parent.mkdir(parents=True, exist_ok=True)
            self._note.touch()
            by_age = sorted(self._note.parent.iterdir(), key=lambda path: path.stat().st_mtime)
            for old in by_age[:-_MOST]:
                old.unlink()
