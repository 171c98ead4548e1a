"""Device: where a measured process computes: the CPU, or the first GPU by CUDA.

The synchronise function is fetched when a Device is made, before any candidate code runs.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

CPU = "cpu"
CUDA = "cuda"


class Device:
    """Made once in a process, after its fork: a CUDA context does not survive one."""

    def __init__(self, name: str) -> None:
        """Raises RuntimeError where there is no such device."""
        self.name = name
        self.synchronize: Callable[[], None] = _nothing
        if name == CUDA:
            _use_plain_fp32()
            torch.cuda.init()
            torch.empty(1, device=CUDA)
            self.synchronize = torch.cuda.synchronize

    def empty_like(self, host: torch.Tensor) -> torch.Tensor:
        return torch.empty(host.shape, dtype=host.dtype, device=self.name)


def _nothing() -> None:
    pass


def _use_plain_fp32() -> None:
    """The precision policy "fp32": cuDNN's default would round the factors of convolutions to TF32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
