"""KernelHeaders: whether torch.compile's C++ headers are worth compiling ahead.

Inductor compiles them once for a set of flags (ten seconds), which saves three seconds a kernel, and in
every process spends more than one to see that they still are the same, even where each kernel lies in its
cache. So modules of few parts, which become few kernels, go without, and so does what was compiled with
this cache before; where its kernels are not there any more, compiling takes longer, nothing else.
"""

from __future__ import annotations

from typing import Any

import torch

from pragma_torch.cachefolder import cache_folder, cached_name, write_cached

_OPTION = "cpp_cache_precompile_headers"
_FEW_PARTS = 8  # modules within a model
_MOST = 1000  # notes of one cache folder; the oldest go


class KernelHeaders:
    """Of one task as it is compiled in this process. `about`: JSON, all that its kernels hang on."""

    def __init__(self, about: Any) -> None:
        folder = cache_folder("compiled")
        self._note = folder / cached_name(about) if folder else None

    def choose(self, model: torch.nn.Module) -> None:
        """Before the first call of what torch.compile returned."""
        few = sum(1 for _ in model.modules()) <= _FEW_PARTS
        if few or self._known():
            from torch._inductor import config

            if hasattr(config, _OPTION):  # a Torch that does not know it compiles no header ahead
                setattr(config, _OPTION, False)

    def compiled(self) -> None:
        """After it."""
        if self._note is not None and not self._known():
            write_cached(self._note, "", _MOST)

    def _known(self) -> bool:
        return self._note is not None and self._note.exists()
