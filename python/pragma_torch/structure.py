"""Structure: properties of a drawn tensor on which a kernel may legitimately rely (src/verify/structure.h)."""

from __future__ import annotations

import dataclasses

import torch

_FEW_VALUES = 16
_MANY_ELEMENTS = 64
_SUM_TOLERANCE = 1e-3
_SAMPLE = 1 << 16


@dataclasses.dataclass
class Structure:
    rms: float = 0.0
    constant: bool = False
    some_zeros: bool = False
    few_values: bool = False
    symmetric: bool = False
    rows_sum_to_one: bool = False
    non_finite: bool = False
    ordered: bool = False  # for integers, such as offsets

    @property
    def must_stay(self) -> bool:
        return self.few_values or self.rows_sum_to_one or self.non_finite


def detect(tensor: torch.Tensor) -> Structure:
    """Returns the structure of a floating-point tensor."""
    flat = tensor.reshape(-1)
    if flat.numel() == 0:
        return Structure()
    zeros = int((flat == 0).sum())
    distinct = flat[:_SAMPLE].unique().numel()
    if distinct <= _FEW_VALUES and flat.numel() > _SAMPLE:
        distinct = flat.unique().numel()
    constant = distinct <= 1
    found = Structure(
        rms=float(flat.double().square().mean().sqrt()),
        constant=constant,
        some_zeros=0 < zeros < flat.numel(),
        few_values=1 < distinct <= _FEW_VALUES and flat.numel() >= _MANY_ELEMENTS,
        non_finite=not bool(torch.isfinite(flat).all()),
    )
    if not constant:
        found.symmetric = _is_symmetric(tensor)
        found.rows_sum_to_one = _rows_sum_to_one(tensor)
    return found


def detect_integers(tensor: torch.Tensor) -> Structure:
    flat = tensor.reshape(-1)
    rises, falls = bool((flat[1:] >= flat[:-1]).all()), bool((flat[1:] <= flat[:-1]).all())
    return Structure(constant=rises and falls, ordered=rises or falls)


def mirror(tensor: torch.Tensor) -> None:
    """Copies the values below the diagonal of the last two dimensions to above it."""
    lower = tensor.tril()
    tensor.copy_(lower + lower.tril(-1).mT)


def _is_symmetric(tensor: torch.Tensor) -> bool:
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 2:
        return False
    matrix = tensor.reshape(-1, *tensor.shape[-2:])[0]
    return bool((matrix == matrix.mT).all())


def _rows_sum_to_one(tensor: torch.Tensor) -> bool:
    if tensor.dim() == 0 or tensor.shape[-1] < 2 or bool((tensor < 0).any()):
        return False
    return bool(((tensor.double().sum(-1) - 1).abs() <= _SUM_TOLERANCE).all())
