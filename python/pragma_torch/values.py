"""Values that are not tensors, as JSON that C++ can read (docs/torch-protocol.md, "values").

null, booleans, 64-bit integers, finite floats, strings and arrays represent themselves. {"float": "inf"} is a float
that JSON cannot represent, and {"node": NAME} is a result of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


def encode_float(value: float) -> Any:
    if math.isfinite(value):
        return float(value)
    return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def encode(value: Any, node_name: Callable[[Any], str | None] = lambda _: None) -> Any:
    """Returns `value` as JSON. `node_name` returns the name of a graph node. Unknown objects become their text."""
    name = node_name(value)
    if name is not None:
        return {"node": name}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**63 else encode_float(float(value))
    if isinstance(value, float):
        return encode_float(value)
    if isinstance(value, (list, tuple)):
        return [encode(item, node_name) for item in value]
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, (torch.layout, torch.memory_format)):
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.SymInt):
        return int(value)
    return str(value)
