"""What a unit reads and changes in objects that its module is given, such as a cache of keys and values.

A kernel takes and returns tensors. So the tensors that it reads in such an object are inputs of the kernel, and what the
original forward would store in the object is stored after the call. Where they are in the object is data, since each
layer of a model has its own place in a cache. All that was found to decide what forward computes is compared at each call.
"""

from __future__ import annotations

from typing import Any

import torch

_WORDS = (type(None), bool, int, float, str)


def said(value: Any) -> Any:
    """Returns a value other than a tensor as JSON. Raises TypeError for one that cannot be written down."""
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"device": str(value)}
    if isinstance(value, type):
        return {"class": name_of(value)}
    if type(value) in _WORDS:
        return value
    raise TypeError(f"a {type(value).__name__}")


def unsaid(value: Any) -> Any:
    """Returns what `said` was given. A class stays a description: nothing stores one."""
    if not isinstance(value, dict):
        return value
    if "dtype" in value:
        return getattr(torch, value["dtype"])
    return torch.device(value["device"]) if "device" in value else value


def name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_a(value: Any, kind: str) -> bool:
    """Compares the value's class with a name. One without a module is of a class of the file from which the model was
    built, which a program may import by any name."""
    own = type(value)
    return (name_of(own) if "." in kind.removesuffix(own.__qualname__) else own.__qualname__) == kind


class Places:
    """The places of one module of the model. An owner is a container or an object on the way to them; the first one is
    the pair (args, kwargs) of the call."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self._owners = [(o["of"], *o["step"], o["class"], o["length"]) for o in entry["owners"]]
        self._same = [(s["of"], *s["step"], s["value"]) for s in entry["same"]]
        self._absent = [(s["of"], s["name"]) for s in entry["absent"]]
        self._forms = [(s["of"], *s["step"], s["dtype"], s["shape"]) for s in entry["forms"]]
        self._tensors = [(s["of"], *s["step"]) for s in entry["tensors"]]
        self._changes = [_change(change) for change in entry["changes"]]

    def read(self, args: Any, kwargs: Any) -> tuple[Any, ...] | None:
        """Returns the tensors that the kernels take, or None if the objects are not as they were when the unit was
        captured."""
        try:
            owners = self._found(args, kwargs)
            if owners is None or not self._as_captured(owners):
                return None
            found = tuple([_get(owners[of], by_name, key) for of, by_name, key in self._tensors])
            return found if all(isinstance(tensor, torch.Tensor) for tensor in found) else None
        except (AttributeError, LookupError, TypeError):
            return None

    def store(self, args: Any, kwargs: Any, result: tuple[Any, tuple[Any, ...]]) -> Any:
        """Stores what the original forward would have stored. `result` is what a unit's function returns: the result of
        forward, and the tensors to store. Returns the former."""
        owners: Any = self._found(args, kwargs)
        rest = iter(result[1])
        for of, by_name, key, how, value in self._changes:
            if how == "into":
                _get(owners[of], by_name, key).copy_(next(rest))
                continue
            stored = next(rest) if how == "tensor" else value
            if by_name:
                setattr(owners[of], key, stored)
            else:
                owners[of][key] = stored
        return result[0]

    def _found(self, args: Any, kwargs: Any) -> list[Any] | None:
        owners: list[Any] = [(args, kwargs)]
        for of, by_name, key, kind, length in self._owners:
            value = _get(owners[of], by_name, key)
            if not _is_a(value, kind) or (length is not None and len(value) != length):
                return None
            owners.append(value)
        return owners

    def _as_captured(self, owners: list[Any]) -> bool:
        for of, by_name, key, wanted in self._same:
            value = said(_get(owners[of], by_name, key))
            if type(value) is not type(wanted) or value != wanted:
                return False
        for of, name in self._absent:
            if hasattr(owners[of], name):
                return False
        for of, by_name, key, dtype, shape in self._forms:
            tensor = _get(owners[of], by_name, key)
            if not isinstance(tensor, torch.Tensor) or str(tensor.dtype) != dtype or list(tensor.shape) != shape:
                return False
        return True


def _get(owner: Any, by_name: bool, key: Any) -> Any:
    return getattr(owner, key) if by_name else owner[key]


def _change(change: dict[str, Any]) -> tuple[Any, ...]:
    return (change["of"], *change["step"], change["how"], unsaid(change.get("value")))
