"""Turns a tree of torch.utils._pytree, as treespec_dumps writes it, into Python text.

Text that names each leaf runs several times faster than tree_flatten and tree_unflatten. It is written where the tree has
only tuples, lists and dicts; for other trees the text calls those two.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

_PLAIN = {"builtins.tuple", "builtins.list", "builtins.dict"}


def parsed(spec: str) -> dict[str, Any]:
    """Returns the root node. A node has the fields `type` (null for a leaf), `context` and `children_spec`."""
    node = json.loads(spec)[1]
    assert isinstance(node, dict)
    return node


def is_leaf(node: dict[str, Any]) -> bool:
    return node["type"] is None


def keys(node: dict[str, Any]) -> list[Any]:
    """Returns the keys of a dict's node."""
    found = json.loads(node["context"])
    assert isinstance(found, list)
    return found


def only_leaves(node: dict[str, Any]) -> bool:
    return all(is_leaf(child) for child in node["children_spec"])


def is_plain(node: dict[str, Any]) -> bool:
    return is_leaf(node) or (node["type"] in _PLAIN and all(is_plain(child) for child in node["children_spec"]))


def unpacked(node: dict[str, Any], name: str, numbers: Iterator[int]) -> list[str]:
    """Returns the lines that take the container `name` apart. Its leaves become v0, v1 and so on, by `numbers`. The lines
    return None where the container is of another form."""
    inside: list[str] = []
    more: list[str] = []
    for place, child in enumerate(node["children_spec"]):
        inside.append(f"v{next(numbers)}" if is_leaf(child) else f"{name}_{place}")
        if not is_leaf(child):
            more += unpacked(child, inside[-1], numbers)
    kind, count = node["type"].removeprefix("builtins."), len(inside)
    if kind == "dict":
        words = keys(node)
        known = f" or not {name}.keys() >= {{{', '.join(repr(word) for word in words)}}}" if words else ""
        lines = [f"{part} = {name}[{word!r}]" for part, word in zip(inside, words, strict=True)]
    else:
        known = ""
        lines = [f"{', '.join(inside)}{',' if count == 1 else ''} = {name}"] if inside else []
    return [f"if type({name}) is not {kind} or len({name}) != {count}{known}:", "    return None", *lines, *more]


def built(spec: str, leaves: list[str]) -> str:
    """Returns an expression that builds the tree round the leaves, which are expressions themselves. Where the tree is
    not a plain one, `_OUT` holds its spec."""
    root = parsed(spec)
    if not is_plain(root):
        return f"pytree.tree_unflatten([{', '.join(leaves)}], _OUT)"
    return _node_text(root, iter(leaves))


def _node_text(node: dict[str, Any], leaves: Any) -> str:
    if is_leaf(node):
        text = next(leaves)
        assert isinstance(text, str)
        return text
    items = [_node_text(child, leaves) for child in node["children_spec"]]
    if node["type"] == "builtins.tuple":
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if node["type"] == "builtins.list":
        return f"[{', '.join(items)}]"
    return f"{{{', '.join(f'{key!r}: {item}' for key, item in zip(keys(node), items, strict=True))}}}"


def value_text(value: Any) -> str:
    """Returns the expression of a constant."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def differs_text(name: str, value: Any) -> str:
    """Returns the condition that is true if the variable is not this constant. 1, 1.0 and True are different ones."""
    if value is None or isinstance(value, bool):
        return f"{name} is not {value!r}"
    if isinstance(value, float):  # by its text, since nan differs from itself and -0.0 equals 0.0
        return f"type({name}) is not float or repr({name}) != {repr(value)!r}"
    return f"type({name}) is not {type(value).__name__} or {name} != {value!r}"
