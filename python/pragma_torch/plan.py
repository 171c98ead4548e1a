"""Plan: the kernel's arguments in order, and where each belongs in a Model and its inputs.

describe.py makes it once. References and timing children use it to bind tensors. It is sent to the zygote as JSON.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import torch

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "bool": torch.bool,
}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def pairs_of(value: Any) -> Any:
    """Returns a complex tensor as a view of real numbers: a further last dimension, of size 2, holds the real and the
    imaginary part. That is how kernels get and return complex numbers. Anything else is returned as it is."""
    if isinstance(value, torch.Tensor) and value.is_complex():
        return torch.view_as_real(value.resolve_conj())
    return value


@dataclasses.dataclass
class Argument:
    """One tensor argument of the kernel. `places` are attribute paths in the model (several if tied)."""

    name: str
    path: str
    role: str  # input, parameter, buffer, constant
    dtype: str
    shape: list[int]
    places: list[str] = dataclasses.field(default_factory=list)
    leaf: int = -1  # for an input: its index among the tensors of get_inputs()
    mutated: bool = False  # forward writes it
    complex: bool = False  # the model's tensor is complex; here and for kernels it is pairs of real numbers

    @property
    def torch_dtype(self) -> torch.dtype:
        return DTYPES[self.dtype]

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.elements * self.torch_dtype.itemsize

    def spec(self) -> dict[str, Any]:
        """Returns the description of the tensor in the form of docs/torch-protocol.md."""
        spec = {
            "name": self.name,
            "path": self.path,
            "role": self.role,
            "dtype": self.dtype,
            "shape": self.shape,
        }
        return {**spec, "complex": True} if self.complex else spec


@dataclasses.dataclass
class Plan:
    """The arguments, and the templates that rebuild forward's positional and keyword arguments from leaves."""

    arguments: list[Argument]
    template: list[Any]
    keywords: list[Any] = dataclasses.field(default_factory=list)  # [name, template] of each
    # Numbers of the arguments that forward changes and whose new contents are further outputs, in their order.
    updates: list[int] = dataclasses.field(default_factory=list)
    tree: Any = None  # the form of what forward returns (tree.py)

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Plan:
        return Plan(
            [Argument(**item) for item in value["arguments"]],
            value["template"],
            value.get("keywords", []),
            value.get("updates", []),
            value.get("tree"),
        )


@dataclasses.dataclass
class Leaf:
    """A tensor found among forward's arguments. Its name and path come from its position."""

    name: str
    path: str
    tensor: torch.Tensor  # a complex one as pairs
    complex: bool = False


@dataclasses.dataclass
class Scalar:
    """A value among forward's arguments that is not a tensor, or a list of such values."""

    name: str
    value: Any


class UnsupportedValue(Exception):
    """An argument of forward that can be passed neither as a tensor nor as a plain value."""


def flatten(value: Any, name: str, path: str, leaves: list[Leaf], scalars: list[Scalar]) -> Any:
    """Extracts the tensors and scalars from `value`. Returns the template from which `fill` restores it.

    Templates are JSON: {"leaf": i}, {"pairs": i} for a complex tensor, {"value": v}, {"list": [...]}, {"tuple": [...]},
    {"dict": [[k, t], ...]}.
    """
    if isinstance(value, torch.Tensor):
        leaves.append(Leaf(name, path, pairs_of(value), value.is_complex()))
        return {"pairs" if value.is_complex() else "leaf": len(leaves) - 1}
    if _is_plain(value):
        scalars.append(Scalar(name, value))
        return _plain_template(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        items = [
            flatten(v, f"{name}_{i}", f"{path}[{i}]", leaves, scalars) for i, v in enumerate(value)
        ]
        return {"tuple" if isinstance(value, tuple) else "list": items}
    if type(value) is dict and all(type(key) in (str, int) for key in value):
        pairs = [
            [k, flatten(v, f"{name}_{k}", f"{path}[{k!r}]", leaves, scalars)]
            for k, v in value.items()
        ]
        return {"dict": pairs}
    raise UnsupportedValue(f"{path} is of type {type(value).__name__}")


def _is_plain(value: Any) -> bool:
    if value is None or type(value) in (bool, int, float, str):
        return True
    return type(value) in (list, tuple) and all(_is_plain(item) for item in value)


def _plain_template(value: Any) -> Any:
    if type(value) in (list, tuple):
        return {
            "tuple" if type(value) is tuple else "list": [_plain_template(item) for item in value]
        }
    # JSON has no infinities. The repr of a float reads back exactly.
    return {"float": repr(value)} if type(value) is float else {"value": value}


def fill(template: Any, leaves: list[torch.Tensor]) -> Any:
    """Inverts `flatten`, with these tensors at the leaves."""
    kind, content = next(iter(template.items()))
    if kind == "leaf":
        return leaves[content]
    if kind == "pairs":
        return torch.view_as_complex(leaves[content])
    if kind == "value":
        return content
    if kind == "float":
        return float(content)
    if kind == "dict":
        return {key: fill(item, leaves) for key, item in content}
    items = [fill(item, leaves) for item in content]
    return tuple(items) if kind == "tuple" else items
