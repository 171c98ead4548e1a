"""Unit: a submodule of the model that becomes a task of its own, with the places where its values come from."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, treespec_dumps

from pragma_model.modelfile import Call
from pragma_torch import graph, islands
from pragma_torch.errors import ServerError, TaskError, one_line

_PLAIN = (type(None), bool, int, float, str)


class NotAUnit(Exception):
    """Why a submodule cannot be a task: one line."""


@dataclasses.dataclass
class Form:
    """How a call's arguments or its result are built around their tensors."""

    spec: str  # of torch.utils._pytree, as text
    leaves: list[Any]

    @staticmethod
    def of(value: Any, what: str) -> Form:
        leaves, spec = tree_flatten(value)
        odd = next((leaf for leaf in leaves if not isinstance(leaf, (torch.Tensor, *_PLAIN))), None)
        if odd is not None:
            raise NotAUnit(f"{what} a {type(odd).__name__}")
        try:
            return Form(treespec_dumps(spec), leaves)
        except Exception as error:  # a container that cannot be written down
            raise NotAUnit(f"{what} a container of a kind that cannot be written down: {one_line(str(error))}") from error

    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def numbered(self, key: str) -> list[dict[str, Any]]:
        """Returns each leaf as {key: number of the tensor} or {"value": the constant}."""
        count = iter(range(len(self.leaves)))
        return [{key: next(count)} if isinstance(leaf, torch.Tensor) else {"value": leaf} for leaf in self.leaves]


class Unit:
    """One submodule, captured with the arguments of its call."""

    def __init__(self, module: torch.nn.Module, call: Call, path: str, file: str) -> None:
        self.path = path
        self.kind = type(module).__name__
        self.given = Form.of((call.args, call.kwargs), "it takes")
        with torch.no_grad():
            self.result = Form.of(module(*call.args, **call.kwargs), "it returns")
        if not self.result.tensors():
            raise NotAUnit("it returns no tensor")
        # A tensor leaf of the arguments by its number among all leaves.
        self._leaf_numbers = [i for i, leaf in enumerate(self.given.leaves) if isinstance(leaf, torch.Tensor)]
        self._program = _exported(module, call, file)
        self._nodes = [n for n in self._program.graph.nodes if n.op == "call_function"]
        if not self._nodes:
            raise NotAUnit("it computes nothing")

    @property
    def operators(self) -> int:
        return len(self._nodes)

    def fingerprint(self) -> str:
        """Returns a hash of all that the computation depends on, apart from parameters and inputs."""
        said = [treespec for treespec in (self.given.spec, self.result.spec)]
        said += [repr([leaf for leaf in self.given.leaves if not isinstance(leaf, torch.Tensor)])]
        said += [repr([leaf for leaf in self.result.leaves if not isinstance(leaf, torch.Tensor)])]
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
            cut = islands.cut(self._program, self.given.tensors(), title, [[n.name for n in self._nodes]])["islands"][0]
        except (TaskError, ServerError) as error:
            raise NotAUnit(str(error)) from error
        meanings = self._meanings()
        results = self._results(cut["outputs"])
        return {
            "source": cut["source"],
            "arguments": {path: meanings[name] for path, name in cut["arguments"].items()},
            "outputs": results,
            "in_spec": self.given.spec,
            "leaves": self.given.numbered("argument"),
            "out_spec": self.result.spec,
            "out_leaves": self.result.numbered("result"),
        }

    def constants(self) -> dict[str, torch.Tensor]:
        """Returns the tensors that forward makes itself, by the name that `task` gives them."""
        return {name.replace(".", "_"): value for name, value in self._constants().items()}

    def _meanings(self) -> dict[str, dict[str, Any]]:
        """Maps a placeholder's name to a leaf of the arguments, a path of the module's state or a constant."""
        found: dict[str, dict[str, Any]] = {}
        numbers = iter(self._leaf_numbers)
        for spec in self._program.graph_signature.input_specs:
            kind = spec.kind.name
            if kind in ("PARAMETER", "BUFFER"):
                found[spec.arg.name] = {"state": spec.target}
            elif kind == "CONSTANT_TENSOR":
                found[spec.arg.name] = {"constant": spec.target.replace(".", "_")}
            elif not hasattr(spec.arg, "value"):
                found[spec.arg.name] = {"leaf": next(numbers)}
        return found

    def _results(self, computed: list[str]) -> list[int]:
        """Returns, for each tensor of the result, which output of the task it is."""
        output = next(n for n in self._program.graph.nodes if n.op == "output")
        names = [value.name for value in output.args[0]]
        missing = next((name for name in names if name not in computed), None)
        if missing is not None:
            raise NotAUnit("it returns an argument or a constant unchanged")
        return [computed.index(name) for name in names]


def _exported(module: torch.nn.Module, call: Call, file: str) -> Any:
    """Returns the decomposed graph of the call."""

    def tensors(value: Any) -> tuple[torch.Tensor, ...]:
        return tuple(leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))

    program, why = graph.export(module, list(call.args), call.kwargs, file, tensors)
    if program is None:
        raise NotAUnit(f"torch.export fails: {why}")
    program = graph.decompose(program)
    changed = program.graph_signature.buffers_to_mutate or program.graph_signature.user_inputs_to_mutate
    if changed:
        raise NotAUnit(f"it changes {next(iter(changed.values()))}")
    return program
