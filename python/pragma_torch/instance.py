"""Instance: a Model whose inputs and state are the tensors of an argument list."""

from __future__ import annotations

import functools
from typing import Any

import torch

from pragma_torch.plan import Plan, fill, pairs_of
from pragma_torch.tree import LEAVES, TreeError, flatten_tree


class OutputError(Exception):
    """forward returned something that is not made of tensors and constants."""


class Instance:
    """A model and its bound inputs. Calling it runs forward. The instance owns the model."""

    def __init__(self, model: torch.nn.Module, plan: Plan) -> None:
        self.model = model
        self._plan = plan
        self._tensors: list[torch.Tensor] = []
        self.inputs: list[Any] = []
        self.keywords: dict[str, Any] = {}

    def bind(self, tensors: list[torch.Tensor]) -> None:
        """Makes forward use exactly these tensors (no copies), one per argument of the plan."""
        self._tensors = tensors
        leaves: dict[int, torch.Tensor] = {}
        for argument, tensor in zip(self._plan.arguments, tensors, strict=True):
            if argument.role == "input":
                leaves[argument.leaf] = tensor
            for place in argument.places:
                set_state(self.model, place, tensor)
        values = [leaves[i] for i in range(len(leaves))]
        self.inputs = [fill(item, values) for item in self._plan.template]
        self.keywords = {name: fill(item, values) for name, item in self._plan.keywords}

    def release_inputs(self) -> None:
        """Releases the inputs. Call bind to set others."""
        self.inputs, self.keywords, self._tensors = [], {}, []

    def __call__(self) -> Any:
        return self.model(*self.inputs, **self.keywords)

    def takes(self, model: Any) -> Any:
        """Returns `model` (this one, or compiled) as a function of the positional inputs alone."""
        return functools.partial(model, **self.keywords) if self.keywords else model

    def updated(self) -> list[torch.Tensor]:
        """Returns the present contents of what forward changes and a caller can see (plan.updates)."""
        return [self._now(index) for index in self._plan.updates]

    def _now(self, index: int) -> torch.Tensor:
        argument = self._plan.arguments[index]
        if argument.role == "input" or not argument.places:
            return self._tensors[index]
        return get_state(self.model, argument.places[0])  # forward may have put another tensor there


def owner_of(model: torch.nn.Module, place: str) -> tuple[torch.nn.Module, str]:
    """Returns the module that holds the tensor at `place` ("a.fc.weight"), and the name of its attribute there."""
    path, _, leaf = place.rpartition(".")
    return model.get_submodule(path), leaf


def held_at(model: torch.nn.Module, place: str) -> Any:
    """Returns what the model holds at `place`. Raises AttributeError if that is nothing."""
    owner, leaf = owner_of(model, place)
    return getattr(owner, leaf)


def get_state(model: torch.nn.Module, place: str) -> torch.Tensor:
    """Returns the tensor at `place`, a complex one as pairs."""
    return pairs_of(held_at(model, place))


def set_state(model: torch.nn.Module, place: str, tensor: torch.Tensor) -> None:
    """Parameters keep their object, because modules hold lists of them, and get new data. Other tensors are replaced.
    Where the model holds a complex tensor, `tensor` has pairs."""
    owner, leaf = owner_of(model, place)
    held = getattr(owner, leaf, None)
    if isinstance(held, torch.Tensor) and held.is_complex():
        tensor = torch.view_as_complex(tensor)
    parameter = owner._parameters.get(leaf)
    if parameter is not None:
        parameter.data = tensor
    elif leaf in owner._buffers:
        owner._buffers[leaf] = tensor
    else:
        setattr(owner, leaf, tensor)


def flatten_outputs(value: Any) -> tuple[Any, list[tuple[str, torch.Tensor]]]:
    """Returns the tree of what forward returned (tree.py), and [(path, tensor), ...], complex tensors as pairs."""
    try:
        tree, found = flatten_tree(value)
    except TreeError as error:
        raise OutputError(f"forward returns a value that cannot be compared: {error}") from error
    return tree, [(path, pairs_of(tensor)) for path, tensor in found]


def kind_of(tree: Any) -> str:
    """Returns "tensor", "tuple" or "list" for one tensor or a flat sequence of tensors, and "tree" for anything else."""
    kind, content = next(iter(tree.items()))
    if kind in LEAVES:
        return "tensor"
    flat = kind in ("list", "tuple") and content and all(not item.keys().isdisjoint(LEAVES) for item in content)
    return kind if flat else "tree"
