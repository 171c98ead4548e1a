"""Trees: the form of what forward returns, without its tensors.

A tree is JSON: {"leaf": i} is tensor number i, and {"pairs": i} is that if it is complex. {"value": v} and
{"float": text} are constants of the task: None, a number, a text. {"list": [...]}, {"tuple": [...]} and
{"dict": [[key, tree], ...]} are themselves. {"named": {...}} is a named tuple or one of Torch's own result tuples, and
{"fields": {...}} a dataclass; both hold "class" and "items", pairs of a field's name and its tree.

Values are read without running code of their classes, because a candidate may define these classes.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch


class TreeError(Exception):
    """A value that is not made of tensors and constants, or not the expected one. The text is a part of one line."""


_MOST_DEPTH = 32
LEAVES = ("leaf", "pairs")
_RESULTS = "torch.return_types"
_KEYS = (str, int, bool, type(None))


def flatten_tree(value: Any, path: str = "output") -> tuple[Any, list[tuple[str, torch.Tensor]]]:
    """Returns the tree of `value` and its tensors, each with its path."""
    found: list[tuple[str, torch.Tensor]] = []
    return _tree(value, path, found, 0), found


def is_plain(tree: Any) -> bool:
    """Returns whether the tree consists of tensors, lists, tuples and Torch's own result tuples only."""
    kind, content = next(iter(tree.items()))
    if kind == "named" and content["class"].startswith(_RESULTS):
        return True
    return kind in LEAVES or (kind in ("list", "tuple") and bool(content) and all(map(is_plain, content)))


def complex_leaves(tree: Any) -> set[int]:
    """Returns the numbers of the tensors that are complex."""
    kind, content = next(iter(tree.items()))
    if kind == "pairs":
        return {content}
    if kind in ("leaf", "value", "float"):
        return set()
    members = content["items"] if kind in ("named", "fields") else content
    below = members if kind in ("list", "tuple") else [item for _, item in members]
    return set().union(*map(complex_leaves, below))


def is_result_tuple(value: Any) -> bool:
    """Returns whether it is what an operator of Torch with several results returns. Its class is a type of C."""
    return type(value).__module__ == _RESULTS and type(value) is getattr(torch.return_types, type(value).__name__, None)


def _tree(value: Any, path: str, found: list[tuple[str, torch.Tensor]], depth: int) -> Any:
    if depth > _MOST_DEPTH:
        raise TreeError(f"{path} is nested too deeply")
    if isinstance(value, torch.Tensor):
        found.append((path, value))
        return {LEAVES[value.is_complex()]: len(found) - 1}
    if value is None or type(value) in (bool, int, str):
        return {"value": value}
    if type(value) is float:
        return {"float": repr(value)}
    kind = _kind_of(value, path)
    pairs = [
        [key, _tree(item, _path(path, kind, key), found, depth + 1)] for key, item in _items(kind, value)
    ]
    if kind in ("list", "tuple"):
        return {kind: [item for _, item in pairs]}
    if kind == "dict":
        return {"dict": pairs}
    return {kind: {"class": _class_name(type(value)), "items": pairs}}


def _kind_of(value: Any, path: str) -> str:
    if type(value) is list:
        return "list"
    if type(value) is tuple:
        return "tuple"
    if isinstance(value, tuple) and _field_names(type(value)):
        return "named"
    if dataclasses.is_dataclass(value) and not isinstance(value, (dict, type)):
        return "fields"
    if type(value) is dict and all(type(key) in _KEYS for key in value):
        return "dict"
    raise TreeError(
        f"{path} is of type {type(value).__name__}; outputs may be tensors, None, numbers, texts, and lists, tuples, "
        "dicts, named tuples and dataclasses of these"
    )


def _items(kind: str, value: Any) -> list[tuple[Any, Any]]:
    if kind in ("list", "tuple"):
        return list(enumerate(value))
    if kind == "dict":
        return list(value.items())
    if kind == "named":
        return list(zip(_field_names(type(value)), tuple.__iter__(value), strict=True))
    held = _attributes(value)
    names = [field.name for field in dataclasses.fields(value)]
    if not all(name in held for name in names):
        raise TreeError(f"a {type(value).__name__} lacks the field {next(n for n in names if n not in held)}")
    return [(name, held[name]) for name in names]


def _attributes(value: Any) -> dict[str, Any]:
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError as error:
        raise TreeError("a dataclass with slots is not supported") from error
    return held if type(held) is dict else {}


def _field_names(of: type) -> list[str]:
    """Returns the fields of a named tuple or of a result tuple of Torch, or none for another class."""
    names = vars(of).get("_fields")
    if type(names) is tuple and all(type(name) is str for name in names):
        return list(names)
    if of.__module__ == _RESULTS and hasattr(of, "__match_args__"):
        return list(of.__match_args__)
    return []


def _class_name(of: type) -> str:
    return f"{_RESULTS}.{of.__name__}" if of.__module__ == _RESULTS else of.__qualname__


def _path(path: str, kind: str, key: Any) -> str:
    return f"{path}.{key}" if kind in ("named", "fields") else f"{path}[{key!r}]"


def pick(tree: Any, value: Any, path: str = "output") -> dict[int, tuple[str, Any]]:
    """Returns what `value` holds at the leaves of `tree`: number of the leaf -> (path, object). Raises TreeError where
    the two differ in form or in a constant. The order of a dict's keys does not count, nor whether a sequence is a list
    or a tuple."""
    found: dict[int, tuple[str, Any]] = {}
    _pick(tree, value, path, found)
    return found


def _pick(tree: Any, value: Any, path: str, found: dict[int, tuple[str, Any]]) -> None:
    kind, content = next(iter(tree.items()))
    if kind in LEAVES:
        found[content] = (path, value)
        return
    if kind in ("value", "float"):
        _check_constant(kind, content, value, path)
        return
    for key, item, below in _matched(kind, content, value, path):
        _pick(item, below, _path(path, kind, key), found)


def _check_constant(kind: str, content: Any, value: Any, path: str) -> None:
    wanted = float(content) if kind == "float" else content
    if type(value) is not type(wanted) or repr(value) != repr(wanted):
        raise TreeError(f"{path} is {_said(value)}, expected {wanted!r}")


def _matched(kind: str, content: Any, value: Any, path: str) -> list[tuple[Any, Any, Any]]:
    """Returns (key, tree, value) of each member. Raises TreeError where the members are others."""
    pairs = list(enumerate(content)) if kind in ("list", "tuple") else content
    name = ""
    if kind in ("named", "fields"):
        name, pairs = content["class"], content["items"]
    given = _given(kind, name, value, [key for key, _ in pairs])
    if given is None:
        raise TreeError(f"{path} is {_said(value)}, expected {_wanted(kind, name)}")
    wanted = {key for key, _ in pairs}
    if set(given) != wanted:
        raise TreeError(f"{path} has the members {sorted(map(str, given))}, expected {sorted(map(str, wanted))}")
    return [(key, item, given[key]) for key, item in pairs]


def _given(kind: str, name: str, value: Any, keys: list[Any]) -> dict[Any, Any] | None:
    """Returns the members of `value`, or None if it is of another kind. `keys` are those that are expected. The class of
    `value` is only asked for its name, and not in a way that it or its metaclass could answer with code."""
    if kind in ("list", "tuple"):
        return dict(enumerate(value)) if type(value) in (list, tuple) else None
    if kind == "dict":
        return dict(value) if type(value) is dict else None
    if type.__getattribute__(type(value), "__name__") != name.rpartition(".")[2]:
        return None
    if kind == "fields":
        held = _attributes(value)
        return {key: held[key] for key in keys if key in held}
    if tuple not in type.__getattribute__(type(value), "__mro__"):
        return None
    items = list(tuple.__iter__(value))
    return dict(zip(keys, items, strict=True)) if len(items) == len(keys) else {}


def _wanted(kind: str, name: str) -> str:
    return f"a {name}" if name else f"a {kind}"


def _said(value: Any) -> str:
    """Returns a short text about `value`, without running code of its class."""
    plain = value is None or type(value) in (bool, int, float)
    return repr(value) if plain else f"of type {type.__getattribute__(type(value), '__name__')}"
