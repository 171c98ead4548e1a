"""KernelHeaders: decides whether to precompile torch.compile's C++ headers.

Inductor compiles them once for each set of flags, which takes ten seconds and saves three seconds per kernel. But every
process then spends more than a second to check that they are unchanged, even if every kernel is in its cache. So
modules with few parts, which become few kernels, do without. So does a model that was compiled with this cache before.
If its kernels have been deleted since, the only effect is that compiling takes longer.
"""

from __future__ import annotations

from typing import Any

import torch

from pragma_torch.cachefolder import cache_folder, cached_name, write_cached

_OPTION = "cpp_cache_precompile_headers"
_FEW_PARTS = 8  # modules within a model
_MOST = 1000  # notes in one cache folder; the oldest are deleted


class KernelHeaders:
    """For one task as it is compiled in this process. `about` is JSON with everything on which its kernels depend."""

    def __init__(self, about: Any) -> None:
        folder = cache_folder("compiled")
        self._note = folder / cached_name(about) if folder else None

    def choose(self, model: torch.nn.Module) -> None:
        """To be called before the first call of the result of torch.compile."""
        few = sum(1 for _ in model.modules()) <= _FEW_PARTS
        if few or self._known():
            from torch._inductor import config

            if hasattr(config, _OPTION):  # a Torch without this option never precompiles headers
                setattr(config, _OPTION, False)

    def compiled(self) -> None:
        """To be called after the first call of the result of torch.compile."""
        if self._note is not None and not self._known():
            write_cached(self._note, "", _MOST)

    def _known(self) -> bool:
        return self._note is not None and self._note.exists()
