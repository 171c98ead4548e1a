"""The mode that a module is in (training or eval), and whether its results depend on it."""

from __future__ import annotations

import torch

_RECURRENT = (torch.nn.RNNBase, torch.nn.MultiheadAttention)  # they use the mode only for their dropout
_CONTAINERS = (torch.nn.TransformerEncoder, torch.nn.TransformerEncoderLayer)  # only to choose a faster path


def mode_name(model: torch.nn.Module) -> str:
    return "training" if model.training else "eval"


def mode_matters(model: torch.nn.Module) -> bool:
    """Returns true if some part of the module computes something else after train() than after eval(). In case of doubt
    it returns true."""
    return any(_depends(part) for part in model.modules())


def _depends(part: torch.nn.Module) -> bool:
    if isinstance(part, torch.nn.modules.batchnorm._NormBase):
        # Without running statistics the batch's own are used in both modes.
        return part.running_mean is not None or part.running_var is not None
    if isinstance(part, torch.nn.modules.dropout._DropoutNd):
        return part.p > 0
    if isinstance(part, _RECURRENT):
        return part.dropout > 0
    if isinstance(part, _CONTAINERS):
        return False
    code = getattr(type(part).forward, "__code__", None)
    return code is not None and "training" in code.co_names
