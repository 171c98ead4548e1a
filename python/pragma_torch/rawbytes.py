"""The bytes of a tensor's elements."""

from __future__ import annotations

import torch


def as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the elements' bytes as one dimension. A dimension of one element may have any stride, which torch calls
    contiguous but does not view as bytes."""
    return tensor.contiguous().as_strided((tensor.numel(),), (1,)).view(torch.uint8)
