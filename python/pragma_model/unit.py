"""Unit: a submodule of the model that becomes a task of its own, with the places where its values come from."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_flatten_with_path, tree_leaves, treespec_dumps

from pragma_model.modelfile import Call
from pragma_model.objects import Change, Observed, Path, Unreadable, get, is_object, name_of_path, twin_arguments
from pragma_torch import graph, islands
from pragma_torch.errors import ServerError, TaskError, one_line
from pragma_torch.names import Namer
from pragma_torch.plan import dtype_name

_PLAIN = (type(None), bool, int, float, str)
_TORCHS = ("aten", "prim", "prims")  # namespaces of the operators that come with Torch


class NotAUnit(Exception):
    """Why a submodule cannot be a task: one line."""


@dataclasses.dataclass
class Form:
    """How a call's arguments or its result are built around their tensors."""

    spec: str  # of torch.utils._pytree, as text
    leaves: list[Any]

    @staticmethod
    def of(value: Any, what: str, objects: bool = False) -> Form:
        """Raises NotAUnit for a leaf that is neither a tensor nor plain, nor an object where these are allowed."""
        leaves, spec = tree_flatten(value)
        allowed = (torch.Tensor, *_PLAIN)
        odd = next((x for x in leaves if not isinstance(x, allowed) and not (objects and is_object(x))), None)
        if odd is not None:
            raise NotAUnit(f"{what} a {type(odd).__name__}")
        try:
            return Form(treespec_dumps(spec), leaves)
        except Exception as error:  # a container that cannot be written down
            raise NotAUnit(f"{what} a container of a kind that cannot be written down: {one_line(str(error))}") from error

    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def has_objects(self) -> bool:
        return any(is_object(leaf) for leaf in self.leaves)

    def numbered(self, key: str) -> list[dict[str, Any]]:
        """Returns each leaf as {key: number of the tensor}, {"value": the constant} or {"object": its class}."""
        count = iter(range(len(self.leaves)))
        return [_numbered(leaf, key, count) for leaf in self.leaves]


def _numbered(leaf: Any, key: str, count: Iterator[int]) -> dict[str, Any]:
    if isinstance(leaf, torch.Tensor):
        return {key: next(count), "dtype": dtype_name(leaf.dtype), "shape": list(leaf.shape)}
    return {"object": type(leaf).__name__} if is_object(leaf) else {"value": leaf}


class Unit:
    """One submodule, captured with the arguments of its call."""

    def __init__(self, module: torch.nn.Module, call: Call, path: str, file: str) -> None:
        self.path = path
        self.kind = type(module).__name__
        self.given = Form.of((call.args, call.kwargs), "it takes", objects=True)
        self._arguments = (call.args, call.kwargs)
        self._observed = _observe(module, call) if self.given.has_objects() else None
        self.result = Form.of(self._first_result(module, call), "it returns")
        if not self.result.tensors():
            raise NotAUnit("it returns no tensor")
        # A tensor leaf of the arguments by its number among all leaves.
        self._leaf_numbers = [i for i, leaf in enumerate(self.given.leaves) if isinstance(leaf, torch.Tensor)]
        self._held = self._observed.tensors() if self._observed else []
        self._program = self._captured(module, call, file)
        self._nodes = [n for n in self._program.graph.nodes if n.op == "call_function"]
        if not self._nodes:
            raise NotAUnit("it computes nothing")
        for node in self._nodes:
            if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace not in _TORCHS:
                raise NotAUnit(f"it calls {node.target}, an operator of another library")

    def _first_result(self, module: torch.nn.Module, call: Call) -> Any:
        if self._observed is not None:
            return self._observed.result
        with torch.no_grad():
            return module(*call.args, **call.kwargs)

    def _captured(self, module: torch.nn.Module, call: Call, file: str) -> Any:
        """Returns the decomposed graph of the call."""
        if self._observed is None:
            return _exported(module, list(call.args), call.kwargs, file)
        namer = Namer()
        names = [namer.name(n) for n in [*_leaf_names(module, call), *(name_of_path(path) for path in self._held)]]
        module.forward = _on_tensors(module, call, self._observed.changes, self._tensors(), names)
        try:
            return _exported(module, self._tensors(), {}, file)
        finally:
            module.__dict__.pop("forward", None)

    def _tensors(self) -> list[torch.Tensor]:
        """Returns the tensors of the call: those among its arguments, then those that objects hold."""
        return [*self.given.tensors(), *(get(self._arguments, path) for path in self._held)]

    def places(self) -> dict[str, Any] | None:
        """Returns what the module reads and changes in objects, for pragma_kernels.objects; None if it is given none."""
        if self._observed is None:
            return None
        try:
            return self._observed.places([path for path in self._held if path in self._used()])
        except Unreadable as error:
            raise NotAUnit(str(error)) from error

    def _used(self) -> list[Path]:
        """Returns the paths of the tensors in objects that the graph reads."""
        if not self._held:
            return []
        users = {n.name: n.users for n in self._program.graph.nodes if n.op == "placeholder"}
        given = [s.arg.name for s in self._program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
        return [path for path, name in zip(self._held, given[len(self._leaf_numbers) :], strict=True) if users[name]]

    @property
    def operators(self) -> int:
        return len(self._nodes)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Returns a hash of all that the computation depends on, apart from parameters and inputs."""
        said = [treespec for treespec in (self.given.spec, self.result.spec)]
        said += [repr([leaf for leaf in self.given.numbered("argument") if "argument" not in leaf])]
        said += [repr([leaf for leaf in self.result.numbered("result") if "result" not in leaf])]
        said += [json.dumps(_without_numbers(self.places()), sort_keys=True)]
        for spec in self._program.graph_signature.input_specs:
            said.append(f"{spec.kind.name} {spec.target}")
        for node in self._program.graph.nodes:
            value = node.meta.get("val")
            shape = f"{tuple(value.shape)} {value.dtype}" if isinstance(value, torch.Tensor) else ""
            said.append(f"{node.op} {node.name} {node.target} {node.args} {node.kwargs} {shape}")
        for name, constant in sorted(self._constants().items()):
            said.append(f"{name} {hashlib.sha256(constant.contiguous().numpy().tobytes()).hexdigest()}")
        return hashlib.sha256("\n".join(said).encode()).hexdigest()

    def _constants(self) -> dict[str, torch.Tensor]:
        return {n: v for n, v in self._program.constants.items() if isinstance(v, torch.Tensor)}

    def task(self, title: str) -> dict[str, Any]:
        """Returns the task's text, and where each of its arguments comes from in a call of the module."""
        try:
            cut = islands.cut(self._program, self._tensors(), title, [[n.name for n in self._nodes]])["islands"][0]
        except (TaskError, ServerError) as error:
            raise NotAUnit(str(error)) from error
        meanings = self._meanings()
        returned = iter(self._returned())
        return {
            "source": cut["source"],
            "arguments": {path: meanings[name] for path, name in cut["arguments"].items()},
            "outputs": [cut["outputs"].index(n.name) for n in self._result_nodes() if n.op == "call_function"],
            "in_spec": self.given.spec,
            "leaves": self.given.numbered("argument"),
            "out_spec": self.result.spec,
            "out_leaves": [next(returned) if "result" in leaf else leaf for leaf in self.result.numbered("result")],
        }

    def stored(self) -> list[dict[str, Any]]:
        """Returns what is stored in objects, as `_returned` has it."""
        return self._returned()[len(self.result.tensors()) :]

    def constants(self) -> dict[str, torch.Tensor]:
        """Returns the tensors that forward makes itself, by the name that `task` gives them."""
        return {name.replace(".", "_"): value for name, value in self._constants().items()}

    def _meanings(self) -> dict[str, dict[str, Any]]:
        """Maps a placeholder's name to a leaf of the arguments, a path of the module's state or a constant."""
        found: dict[str, dict[str, Any]] = {}
        places: Any = [{"leaf": number} for number in self._leaf_numbers]
        places += [{"slot": number} for number in self._slot_numbers()]
        numbers = iter(places)
        for spec in self._program.graph_signature.input_specs:
            kind = spec.kind.name
            if kind in ("PARAMETER", "BUFFER"):
                found[spec.arg.name] = {"state": spec.target}
            elif kind == "CONSTANT_TENSOR":
                found[spec.arg.name] = {"constant": spec.target.replace(".", "_")}
            elif not hasattr(spec.arg, "value"):
                found[spec.arg.name] = next(numbers)
        return found

    def _slot_numbers(self) -> list[int]:
        """Returns, for each tensor in an object, its number among those that the graph reads."""
        used = self._used()
        return [used.index(path) if path in used else -1 for path in self._held]

    def _returned(self) -> list[dict[str, Any]]:
        """Returns, for each tensor of the result and then for each that is stored in an object, its number among those
        that are computed (`outputs` of the task), or the argument that is returned as it is."""
        meanings = self._meanings()
        numbers = itertools.count()
        return [
            {"result": next(numbers)} if node.op == "call_function" else _passed_on(node, meanings[node.name])
            for node in self._result_nodes()
        ]

    def _result_nodes(self) -> list[Any]:
        return list(next(n for n in self._program.graph.nodes if n.op == "output").args[0])


def _passed_on(node: Any, place: dict[str, Any]) -> dict[str, Any]:
    """Returns the place of an argument that is returned or stored as it is, with its type and sizes."""
    if not place.keys() & {"leaf", "slot"}:
        raise NotAUnit("it returns a parameter or a constant")
    value = node.meta["val"]
    return place | {"dtype": dtype_name(value.dtype), "shape": list(value.shape)}


def _observe(module: torch.nn.Module, call: Call) -> Observed:
    try:
        return Observed(module, call.args, call.kwargs)
    except Unreadable as error:
        raise NotAUnit(f"it takes an object: {error}") from error


def _on_tensors(
    module: torch.nn.Module, call: Call, changes: list[Change], given: list[torch.Tensor], names: list[str]
) -> Callable[..., Any]:
    """Returns forward as a function of tensors alone, which stand for those that are given. It returns what forward
    returns, and then the tensors that it leaves in objects."""
    original = module.forward
    kept = {id(get((call.args, call.kwargs), c.path)) for c in changes if c.how == "into"}  # these change in place

    def forward(*tensors: Any) -> Any:
        replaced = {id(ours): theirs for ours, theirs in zip(given, tensors, strict=True)}
        replaced |= {number: replaced[number].clone() for number in kept}
        args, kwargs = twin_arguments(call.args, call.kwargs, lambda tensor: replaced.get(id(tensor), tensor))
        result = original(*args, **kwargs)
        left = [
            replaced[id(get((call.args, call.kwargs), c.path))] if c.how == "into" else get((args, kwargs), c.path)
            for c in changes
            if c.how != "value"
        ]
        return result, left

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    forward.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return forward


def _leaf_names(module: torch.nn.Module, call: Call) -> list[str]:
    """Returns a name for each tensor among the arguments."""
    leaves, _ = tree_flatten_with_path((call.args, call.kwargs))
    parameters = list(inspect.signature(module.forward).parameters)
    found = []
    for path, leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            keys = [str(getattr(key, "key", getattr(key, "idx", getattr(key, "name", "")))) for key in path[1:]]
            by_position = path[0].idx == 0 and int(keys[0]) < len(parameters)
            found.append("_".join([parameters[int(keys[0])], *keys[1:]] if by_position else keys))
    return found


def _without_numbers(value: Any) -> Any:
    """Returns places without the numbers of items: layers differ in these."""
    if isinstance(value, list):
        by_number = len(value) == 2 and value[0] is False and isinstance(value[1], int)
        return ["item"] if by_number else [_without_numbers(item) for item in value]
    return {key: _without_numbers(item) for key, item in value.items()} if isinstance(value, dict) else value


def _exported(module: torch.nn.Module, args: list[Any], kwargs: dict[str, Any], file: str) -> Any:
    """Returns the decomposed graph of the call."""

    def tensors(value: Any) -> tuple[torch.Tensor, ...]:
        return tuple(leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))

    program, why = graph.export(module, args, kwargs, file, tensors)
    if program is None:
        raise NotAUnit(f"torch.export fails: {why}")
    program = graph.decompose(program)
    changed = program.graph_signature.buffers_to_mutate or program.graph_signature.user_inputs_to_mutate
    if changed:
        raise NotAUnit(f"it changes {next(iter(changed.values()))}")
    return program
