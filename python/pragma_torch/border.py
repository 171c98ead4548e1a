"""Expressions that draw tensors like a recorded one, for the task files of islands (islands.py).

A drawn tensor has the recorded one's shape and type, and the properties on which operators rely: range, sign, share of
zeros and infinities, rows that add up to 1, rows in ascending order, rows that are permutations, indices in range.
"""

from __future__ import annotations

import math

import torch

_QUANTILES = 17
_MOST_LOOKED_AT = 1 << 20  # elements of which quantiles are taken
_ROW_TOLERANCE = 1e-3


def drawn_like(value: torch.Tensor) -> str:
    """Returns a Python expression; the file that contains it defines `like` (islands.py)."""
    shape = tuple(value.shape)
    if value.numel() == 0:
        return f"torch.empty({shape}, dtype={value.dtype})"
    if value.dtype == torch.bool:
        return f"(torch.rand({shape}) < {value.double().mean().item():.4g})"
    if not value.dtype.is_floating_point:
        return _integers(value, shape)
    return _reals(value, shape)


def weight_like(value: torch.Tensor) -> str:
    """Returns an expression for a parameter or buffer. One that is the same number everywhere (a bias of zeros, a scale of
    ones in a model that was not trained) is drawn around that number, since a trained one varies and a kernel that
    ignores it would pass."""
    if not value.dtype.is_floating_point or value.numel() < 2:
        return drawn_like(value)
    low, high = value.min().item(), value.max().item()
    if low != high or not math.isfinite(low):
        return drawn_like(value)
    drawn = f"{low!r} + 0.1 * torch.randn({tuple(value.shape)})"
    return drawn if value.dtype == torch.float32 else f"({drawn}).to({value.dtype})"


def _integers(value: torch.Tensor, shape: tuple[int, ...]) -> str:
    low, high = int(value.min()), int(value.max())
    suffix = "" if value.dtype == torch.int64 else f", dtype={value.dtype}"
    if low == high:
        return f"torch.full({shape}, {low}, dtype={value.dtype})"
    if _permutes(value):
        return f"torch.argsort(torch.rand({shape}), -1)" + ("" if not suffix else f".to({value.dtype})")
    drawn = f"torch.randint({low}, {high + 1}, {shape}{suffix})"
    return drawn + (".sort(-1).values" if _ascends(value) else "")


def _permutes(value: torch.Tensor) -> bool:
    """Returns whether every row holds 0, 1, ..., n - 1 in some order, as argsort's results do."""
    if value.dim() == 0 or value.shape[-1] < 3:
        return False
    rows = value.reshape(-1, value.shape[-1])
    return bool((rows.sort(-1).values == torch.arange(rows.shape[-1], dtype=value.dtype)).all())


def _ascends(value: torch.Tensor) -> bool:
    return value.dim() > 0 and value.shape[-1] > 2 and bool((value.diff(dim=-1) >= 0).all())


def _reals(value: torch.Tensor, shape: tuple[int, ...]) -> str:
    finite = value[torch.isfinite(value)]
    if finite.numel() == 0:
        return f"torch.full({shape}, {_number(value.reshape(-1)[0].item())}, dtype={value.dtype})"
    if finite.numel() == value.numel() and _adds_up(value):
        spread = value.double().clamp(min=1e-30).log().std().item()
        return f"torch.softmax(torch.randn({shape}) * {spread:.4g}, -1)" + _cast(value)
    low, high = finite.min().item(), finite.max().item()
    if low == high:
        drawn = f"torch.full({shape}, {low!r}, dtype={value.dtype})"
    else:
        drawn = f"like({shape}, {_quantiles(finite)}" + ("" if value.dtype == torch.float32 else f", {value.dtype}") + ")"
    if finite.numel() < value.numel():
        return _with_infinities(value, shape, drawn)
    return f"{drawn}.sort(-1).values" if low < high and _ascends(value) else drawn


def _adds_up(value: torch.Tensor) -> bool:
    if value.dim() == 0 or value.shape[-1] < 2 or bool((value < 0).any()):
        return False
    return bool(((value.double().sum(-1) - 1).abs() < _ROW_TOLERANCE).all())


def _cast(value: torch.Tensor) -> str:
    return "" if value.dtype == torch.float32 else f".to({value.dtype})"


def _quantiles(finite: torch.Tensor) -> str:
    flat = finite.reshape(-1).double()
    flat = flat[:: max(1, flat.numel() // _MOST_LOOKED_AT)]
    levels = torch.quantile(flat, torch.linspace(0, 1, _QUANTILES, dtype=torch.float64)).tolist()
    return "[" + ", ".join(f"{level:.4g}" for level in levels) + "]"


def _with_infinities(value: torch.Tensor, shape: tuple[int, ...], drawn: str) -> str:
    """Places infinities at random, but leaves the first element of each row finite where it always was: a row of a mask
    that is minus infinity everywhere has no soft-max."""
    share = 1 - torch.isfinite(value).double().mean().item()
    sign = "-" if bool((value == float("-inf")).any()) else ""
    where = f"torch.rand({shape}) < {share:.4g}"
    if value.dim() > 0 and bool(torch.isfinite(value[..., 0]).all()):
        where = f"({where}) & (torch.arange({shape[-1]}) > 0)"
    return f"torch.where({where}, {sign}float('inf'), {drawn})"


def _number(value: float) -> str:
    return repr(value) if value == value and abs(value) != float("inf") else f"float('{value}')"
