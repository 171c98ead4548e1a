"""Device: where a measured process computes, which is the CPU or the first GPU (CUDA).

The synchronise function is looked up when a Device is made, before any candidate code runs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

CPU = "cpu"
CUDA = "cuda"


class Device:
    """Made once per process, after its fork, because a CUDA context does not survive a fork."""

    def __init__(self, name: str) -> None:
        """Raises RuntimeError if the machine does not have the device."""
        self.name = name
        self.synchronize: Callable[[], None] = _nothing
        self.give_memory_back: Callable[[], None] = _nothing  # frees the blocks that Torch caches
        if name == CUDA:
            _use_plain_fp32()
            torch.cuda.init()
            self.synchronize = torch.cuda.synchronize
            self.give_memory_back = torch.cuda.empty_cache
        self._word = torch.zeros(1, device=name)

    def wake(self) -> None:
        """Makes the device switch to this process, which takes 0.15 ms after another process has computed."""
        self._word.zero_()
        self.synchronize()


def _nothing() -> None:
    pass


def _use_plain_fp32() -> None:
    """Sets the precision policy "fp32". By default cuDNN would round the factors of convolutions to TF32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
