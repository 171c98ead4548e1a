"""Instance: a Model whose inputs and state are the tensors of an argument list."""

from __future__ import annotations

from typing import Any

import torch

from pragma_torch.plan import Plan, fill


class OutputError(Exception):
    """forward returned something that does not consist of tensors."""


class Instance:
    """A model and its bound inputs. Calling it runs forward. The instance owns the model."""

    def __init__(self, model: torch.nn.Module, plan: Plan) -> None:
        self.model = model
        self._plan = plan
        self.inputs: list[Any] = []

    def bind(self, tensors: list[torch.Tensor]) -> None:
        """Makes forward use exactly these tensors (no copies), one per argument of the plan."""
        leaves: dict[int, torch.Tensor] = {}
        for argument, tensor in zip(self._plan.arguments, tensors, strict=True):
            if argument.role == "input":
                leaves[argument.leaf] = tensor
            for place in argument.places:
                set_state(self.model, place, tensor)
        self.inputs = [
            fill(item, [leaves[i] for i in range(len(leaves))]) for item in self._plan.template
        ]

    def release_inputs(self) -> None:
        """Releases the inputs. Call bind to set others."""
        self.inputs = []

    def __call__(self) -> Any:
        return self.model(*self.inputs)


def owner_of(model: torch.nn.Module, place: str) -> tuple[torch.nn.Module, str]:
    """Returns the module that holds the tensor at `place` ("a.fc.weight"), and the name of its attribute there."""
    path, _, leaf = place.rpartition(".")
    return model.get_submodule(path), leaf


def get_state(model: torch.nn.Module, place: str) -> torch.Tensor:
    owner, leaf = owner_of(model, place)
    return getattr(owner, leaf)


def set_state(model: torch.nn.Module, place: str, tensor: torch.Tensor) -> None:
    """Parameters keep their object, because modules hold lists of them, and get new data. Other tensors are replaced.
    """
    owner, leaf = owner_of(model, place)
    parameter = owner._parameters.get(leaf)
    if parameter is not None:
        parameter.data = tensor
    elif leaf in owner._buffers:
        owner._buffers[leaf] = tensor
    else:
        setattr(owner, leaf, tensor)


def flatten_outputs(value: Any) -> tuple[str, list[tuple[str, torch.Tensor]]]:
    """Returns ("tensor" | "tuple" | "list", [(path, tensor), ...]). Nested sequences are flattened."""
    if isinstance(value, torch.Tensor):
        return "tensor", [("output", value)]
    if not isinstance(value, (list, tuple)) or not value:
        raise OutputError(
            f"forward returns {_kind(value)}; it must return a tensor or a tuple or list of tensors"
        )
    found: list[tuple[str, torch.Tensor]] = []
    _collect(value, "output", found)
    return "list" if isinstance(value, list) else "tuple", found


def _collect(value: Any, path: str, found: list[tuple[str, torch.Tensor]]) -> None:
    if isinstance(value, torch.Tensor):
        found.append((path, value))
    elif isinstance(value, (list, tuple)) and value:
        for index, item in enumerate(value):
            _collect(item, f"{path}[{index}]", found)
    else:
        raise OutputError(f"{path} is {_kind(value)}; every output of forward must be a tensor")


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (list, tuple, dict)) and not value:
        return f"an empty {type(value).__name__}"
    return f"a value of type {type(value).__name__}"
