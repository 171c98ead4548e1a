"""Recorded: the graph of a forward that runs thousands of operators, such as a loop over time.

torch.export needs milliseconds for each operator, so that 2,048 time steps would take minutes. Here forward runs once
on the real inputs, and each operator that it runs becomes a node. In-place operators become functional ones on the way
(torch.func.functionalize), and the same decompositions are applied as to an exported graph. What depends on data or on
random numbers, what changes the inputs and what is complex is left to torch.export, which says why it cannot be done.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from pragma_torch.lightmode import LightMode
from pragma_torch.rawbytes import as_bytes

_LONG = 1000  # calls of Torch's functions in forward, above which a graph is recorded


class NotRecorded(Exception):
    """forward does something that a recording does not show."""


class TooLong(Exception):
    """forward calls more of Torch's functions than torch.export takes in a few seconds."""


def limited(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Returns forward so that it raises TooLong as soon as it has called too many of Torch's functions."""

    @functools.wraps(forward)
    def counted(*args: Any, **kwargs: Any) -> Any:
        with _Limited():
            return forward(*args, **kwargs)

    return counted


class _Limited(TorchFunctionMode):

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._calls += getattr(func, "__name__", "") != "__get__"  # attributes such as x.shape
        if self._calls > _LONG:
            raise TooLong
        return func(*args, **(kwargs or {}))


@dataclasses.dataclass
class Kind:
    name: str


@dataclasses.dataclass
class Name:
    name: str


@dataclasses.dataclass
class Constant:
    name: str
    value: Any


@dataclasses.dataclass
class Spec:
    kind: Kind
    arg: Any
    target: str | None = None


@dataclasses.dataclass
class Signature:
    input_specs: list[Spec]
    output_specs: list[Spec]
    # A forward that changes its arguments or buffers is not recorded.
    buffers_to_mutate: dict[str, str] = dataclasses.field(default_factory=dict)
    user_inputs_to_mutate: dict[str, str] = dataclasses.field(default_factory=dict)


class _Holder(torch.nn.Module):
    """What torch.fx.Interpreter runs. A GraphModule would compile the graph as Python, which takes seconds."""

    def __init__(self, graph: torch.fx.Graph) -> None:
        super().__init__()
        self.graph = graph


@dataclasses.dataclass
class Recorded:
    """What an ExportedProgram is asked for here."""

    graph_module: _Holder
    graph_signature: Signature
    state_dict: dict[str, torch.Tensor]
    constants: dict[str, torch.Tensor]

    @property
    def graph(self) -> torch.fx.Graph:
        return self.graph_module.graph

    def run_decompositions(self, _table: Any) -> Recorded:
        return self  # they were applied while recording


def record(
    model: torch.nn.Module, inputs: list[Any], keywords: dict[str, Any], table: dict[Any, Callable[..., Any]]
) -> Recorded:
    """`model` returns a tuple of tensors. Raises NotRecorded, or what forward raises."""
    recorder = _Recorder(model, table)
    state = {name: recorder.state("PARAMETER", name, t) for name, t in model.named_parameters()}
    state |= {name: recorder.state("BUFFER", name, t) for name, t in model.named_buffers()}
    leaves, form = tree_flatten((inputs, keywords))
    given = [recorder.input(leaf) for leaf in leaves]

    def run(held: dict[str, torch.Tensor], tensors: list[torch.Tensor]) -> Any:
        remaining = iter(tensors)
        values = [next(remaining) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        args, kwargs = tree_unflatten(values, form)
        with _Whole():
            return torch.func.functional_call(model, held, tuple(args), kwargs)

    tensors = [tensor for tensor in given if tensor is not None]
    with torch.no_grad(), recorder:
        results = torch.func.functionalize(run)(state, tensors)
    return recorder.program(results)


class _Recorder(LightMode):
    def __init__(self, model: torch.nn.Module, table: dict[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self._model = model
        self._table = table
        self._graph = torch.fx.Graph()
        self._specs: list[Spec] = []
        self._inputs: list[Spec] = []
        self._first: torch.fx.Node | None = None  # the node before which further constants are inserted
        self._constants: dict[str, torch.Tensor] = {}
        self._known: dict[Any, torch.fx.Node] = {}  # nodes of constants by what they hold

    def state(self, kind: str, path: str, held: torch.Tensor) -> torch.Tensor:
        letter = "p" if kind == "PARAMETER" else "b"
        return self._placeholder(held.detach(), f"{letter}_{path}", kind, path)

    def input(self, leaf: Any) -> torch.Tensor | None:
        if isinstance(leaf, torch.Tensor):
            return self._placeholder(leaf.detach(), "arg", "USER_INPUT", None)
        node = self._argument("arg")
        self._inputs.append(Spec(Kind("USER_INPUT"), Constant(node.name, leaf)))
        return None

    def _argument(self, name: str) -> torch.fx.Node:
        name = name.replace(".", "_")
        taken = {node.target for node in self._graph.nodes if node.op == "placeholder"}
        return self._graph.placeholder(name if name not in taken else f"{name}_{len(taken)}")

    def _placeholder(self, tensor: torch.Tensor, name: str, kind: str, target: str | None) -> torch.Tensor:
        if tensor.is_complex() or type(tensor) is not torch.Tensor:
            raise NotRecorded
        node = self._argument(name)
        _attach(tensor, self, node)
        spec = Spec(Kind(kind), Name(node.name), target)
        (self._inputs if target is None else self._specs).append(spec)
        return tensor

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default):
            result = func(*args)
            _attach(result, self, self._node(args[0]))
            return result
        if func in self._table:
            with self:
                result = self._table[func](*args, **kwargs)
            if result is not NotImplemented:
                return result
        if func not in _WHOLE.values():
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if _is_refused(func):
            raise NotRecorded
        result = func(*args, **kwargs)
        target = _WHOLE.get(func, func)
        node = self._graph.call_function(target, self._named(args), self._named(kwargs))
        if isinstance(result, torch.Tensor):
            _attach(result, self, node)
        elif isinstance(result, (tuple, list)):
            node.meta["val"] = [_form(item) for item in result]
            for index, item in enumerate(result):
                if isinstance(item, torch.Tensor):
                    _attach(item, self, self._graph.call_function(operator.getitem, (node, index)))
        else:
            raise NotRecorded
        return result

    def _named(self, values: Any) -> Any:
        if isinstance(values, torch.Tensor):
            return self._node(values)
        if isinstance(values, (tuple, list)):
            return type(values)(self._named(value) for value in values)
        return {name: self._named(value) for name, value in values.items()} if isinstance(values, dict) else values

    def _node(self, tensor: torch.Tensor) -> torch.fx.Node:
        known = getattr(tensor, _MARK, None)
        if known is not None and known[0] is self:
            return known[1]
        return self._constant(tensor)

    def _constant(self, tensor: torch.Tensor) -> torch.fx.Node:
        """A tensor that forward makes of Python's numbers, or that it finds in an attribute."""
        if tensor.is_complex():
            raise NotRecorded
        path = next((name for name, held in _attributes(self._model) if held is tensor), "")
        path = path or f"lifted_tensor_{len(self._constants)}"
        key = (tensor.dtype, tuple(tensor.shape), bytes(as_bytes(tensor.detach()).tolist()))
        if key in self._known:  # a loop makes the same constant in each step
            return self._known[key]
        with self._graph.inserting_before(next(iter(self._graph.nodes))):
            node = self._argument(f"c_{path}")
        _attach(tensor, self, node)
        self._known[key] = node
        self._constants[path] = tensor.detach().clone()
        # It is now the first placeholder, so its specification is the first too.
        self._specs.insert(0, Spec(Kind("CONSTANT_TENSOR"), Name(node.name), path))
        return node

    def program(self, results: Any) -> Recorded:
        nodes = [self._node(tensor) for tensor in results]
        self._graph.output(tuple(nodes))
        self._graph.eliminate_dead_code()
        outputs = [Spec(Kind("USER_OUTPUT"), Name(node.name)) for node in nodes]
        state = dict(self._model.named_parameters()) | dict(self._model.named_buffers())
        return Recorded(_Holder(self._graph), Signature([*self._specs, *self._inputs], outputs), state, self._constants)


_MARK = "_pragma_recorded"


def _attach(tensor: torch.Tensor, recorder: _Recorder, node: torch.fx.Node) -> None:
    """Notes which node a tensor is. Torch keeps a tensor's attributes as long as the tensor lives anywhere."""
    if getattr(tensor, _MARK, (None,))[0] is recorder:
        return  # an operator that returned its argument
    node.meta["val"] = _form(tensor)
    setattr(tensor, _MARK, (recorder, node))


def _form(tensor: Any) -> Any:
    if not isinstance(tensor, torch.Tensor):
        return tensor
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


_REFUSED = {
    torch.Tag.data_dependent_output,
    torch.Tag.dynamic_output_shape,
    torch.Tag.nondeterministic_seeded,
}


@functools.cache
def _is_refused(func: Any) -> bool:
    return func._schema.is_mutable or bool(_REFUSED.intersection(func.tags))


def _attributes(model: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    return [
        (f"{prefix}.{name}" if prefix else name, value)
        for prefix, module in model.named_modules()
        for name, value in vars(module).items()
        if isinstance(value, torch.Tensor)
    ]


# Operators that an exported graph keeps whole are taken apart before a dispatch mode sees them. These are their like,
# which are not.
_LIBRARY = torch.library.Library("pragma_recorded", "DEF")
_LIBRARY.define("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
_LIBRARY.define("matmul(Tensor self, Tensor other) -> Tensor")
_LIBRARY.impl("linear", torch.ops.aten.linear.default, "CPU")
_LIBRARY.impl("matmul", torch.ops.aten.matmul.default, "CPU")
_OWN = torch.ops.pragma_recorded
_WHOLE = {
    _OWN.linear.default: torch.ops.aten.linear.default,
    _OWN.matmul.default: torch.ops.aten.matmul.default,
}
_FUNCTIONS = {
    torch.nn.functional.linear: _OWN.linear,
    torch.matmul: _OWN.matmul,
    torch.Tensor.matmul: _OWN.matmul,
    torch.Tensor.__matmul__: _OWN.matmul,
}
_ELSEWHERE = {
    torch.nn.functional.scaled_dot_product_attention,
    torch.Tensor.__rmatmul__,
    torch.lstm,
    torch.gru,
    torch.rnn_tanh,
    torch.rnn_relu,
}


class _Whole(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _ELSEWHERE:
            raise NotRecorded
        return _FUNCTIONS.get(func, func)(*args, **(kwargs or {}))
