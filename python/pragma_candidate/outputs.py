"""Copies what ModelNew returned into memory that pragma owns. The form is checked before a byte is read."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch

from pragma_candidate.service import WrongForm
from pragma_torch.tree import TreeError, complex_leaves, is_plain, is_result_tuple, pick

_Tensor = torch.Tensor  # as it is before any candidate code runs
_strided = torch.strided
_is_contiguous = torch.Tensor.is_contiguous
_is_neg = torch.Tensor.is_neg  # its bytes have the opposite sign
_is_conj = torch.Tensor.is_conj  # its bytes are those of the conjugate
_data_ptr = torch.Tensor.data_ptr
_memmove = ctypes.memmove


def _items_of(value: Any) -> Any:
    """Returns the items without running code of the value's class."""
    return value if type(value) is list else _tuple_items(value)


_tuple_items = tuple.__iter__

# Torch divides the copy of a larger tensor among its threads. The threads of a candidate's own pool may still be
# spinning, each on its own processor, while they wait for the next parallel region. Until such a thread gives up, up to
# milliseconds later, Torch's thread for that processor cannot start.
_ALONE_BYTES = 4 << 20


def complex_where(tree: Any, areas: list[torch.Tensor]) -> list[torch.Tensor]:
    """Returns the areas of a set as `store` wants them: views as complex tensors where Model returns such."""
    in_pairs = complex_leaves(tree) if tree is not None else set()
    return [torch.view_as_complex(area) if i in in_pairs else area for i, area in enumerate(areas)]


def store(
    value: Any, areas: list[torch.Tensor], tree: Any = None, updates: Sequence[Any] = ()
) -> None:
    """Copies what forward returned into the first areas, and what it changed (`updates`) into the last. The copy is part
    of the timed call. `tree` is the form of what Model returns (pragma_torch/tree.py). Raises WrongForm."""
    if type(value) is _Tensor and len(areas) == 1 and not updates:
        _store_one(value, areas[0], "output")
        return
    found = _returned(value, tree)
    found += [(f"what forward changes ({i})", tensor) for i, tensor in enumerate(updates)]
    if len(found) != len(areas):
        raise WrongForm(f"forward returns {len(found) - len(updates)} tensors, expected {len(areas) - len(updates)}")
    for (path, tensor), area in zip(found, areas, strict=True):
        _store_one(tensor, area, path)


def _returned(value: Any, tree: Any) -> list[tuple[str, Any]]:
    """Returns what stands where Model returns tensors. Where Model returns only tensors in lists and tuples, these may be
    nested in another way. Any other form must be the same."""
    found: list[tuple[str, Any]] = []
    if tree is None or is_plain(tree):
        _flatten(value, "output", found)
        return found
    try:
        leaves = pick(tree, value)
    except TreeError as error:
        raise WrongForm(f"forward must return what Model returns: {error}") from error
    return [leaves[i] for i in range(len(leaves))]


def _flatten(value: Any, path: str, found: list[tuple[str, Any]]) -> None:
    if type(value) in (list, tuple) or is_result_tuple(value):
        for index, item in enumerate(_items_of(value)):
            _flatten(item, f"{path}[{index}]", found)
    else:
        found.append((path, value))


def _store_one(tensor: Any, area: torch.Tensor, path: str) -> None:
    if type(tensor) is not _Tensor:
        raise WrongForm(
            f"{path} is of type {type(tensor).__name__}; every output must be a plain torch.Tensor"
        )
    if tensor.shape != area.shape:
        raise WrongForm(f"{path} has shape {list(tensor.shape)}, expected {list(area.shape)}")
    if tensor.dtype != area.dtype:
        raise WrongForm(f"{path} is {tensor.dtype}, expected {area.dtype}")
    if tensor.layout != _strided or tensor.device.type != area.device.type:
        raise WrongForm(
            f"{path} is {tensor.layout} on {tensor.device}, expected dense on {area.device.type}"
        )
    as_it_is = _is_contiguous(tensor) and not _is_neg(tensor) and not _is_conj(tensor)
    if area.is_cpu and tensor.nbytes <= _ALONE_BYTES and as_it_is:
        _memmove(area.data_ptr(), _data_ptr(tensor), tensor.nbytes)
    else:
        area.copy_(tensor)
