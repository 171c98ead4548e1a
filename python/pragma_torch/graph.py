"""The ATen graph of a task, from torch.export.

The graph is functional and nearly core ATen (export's default decompositions), except that linear, matmul and
scaled_dot_product_attention are kept whole. Decomposed, they are views and transposes around a batched product, which
is less informative. Recurrent networks are kept whole too. Decomposed, they have about twenty nodes per time step, and
describing one would take minutes.
"""

from __future__ import annotations

import functools
import operator
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import torch

from pragma_torch.complex_pairs import real_graph
from pragma_torch.errors import one_line
from pragma_torch.instance import flatten_outputs
from pragma_torch.plan import DTYPES, Plan, dtype_name
from pragma_torch.process import imports
from pragma_torch.values import encode

_WHOLE = (
    "reflection_pad1d.default",
    "reflection_pad2d.default",
    "reflection_pad3d.default",
    "replication_pad1d.default",
    "replication_pad2d.default",
    "replication_pad3d.default",
    "select_scatter.default",
    "slice_scatter.default",
    "linear.default",
    "matmul.default",
    "scaled_dot_product_attention.default",
    "lstm.input",
    "gru.input",
    "rnn_tanh.input",
    "rnn_relu.input",
    # Decomposed, these check for errors in a node that takes an effect token, which no kernel could have.
    "inverse.default",
    "linalg_cholesky.default",
    "linalg_inv.default",
    "linalg_ldl_factor.default",
    "linalg_lu_factor.default",
    "linalg_solve.default",
    "linalg_tensorinv.default",
    "linalg_tensorsolve.default",
)

# Export leaves these whole, though torch knows how to write them with core operators.
_FURTHER = (
    "addmv.default",
    "dist.default",
    "ldexp.Tensor",
    "take.default",
)


def preload() -> None:
    """Imports what export needs: as much time as torch itself."""
    with imports():
        import torch.export._trace  # noqa: F401


def export(
    model: torch.nn.Module,
    inputs: list[Any],
    keywords: dict[str, Any],
    path: str,
    tensors_of: Callable[[Any], tuple[torch.Tensor, ...]] | None = None,
) -> tuple[Any, str]:
    """Returns (ExportedProgram, ""), or (None, the reason in one line). The program's outputs are the tensors that
    forward returns, without the containers and constants around them; `tensors_of` finds them in its result, in the
    order of the task's outputs unless something else is given. `path` is the task's file."""
    model.forward = _flat(model.forward, tensors_of or _output_tensors)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            return _captured(model, inputs, keywords), ""
    except Exception as error:  # torch.export raises exceptions of almost any type
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
        where = f" (line {lines[-1]})" if lines else ""
        return None, f"{type(error).__name__}: {one_line(str(error))}{where}"
    finally:
        del model.forward


def _captured(model: torch.nn.Module, inputs: list[Any], keywords: dict[str, Any]) -> Any:
    """Exports the module, or records it where that would take too long (recorded.py)."""
    from torch.export import export as torch_export

    from pragma_torch import recorded

    forward = model.forward
    model.forward = recorded.limited(forward)
    try:
        return torch_export(model, tuple(inputs), keywords, strict=False)
    except recorded.TooLong:
        model.forward = forward
    try:
        return recorded.record(model, inputs, keywords, _decompositions())
    except recorded.NotRecorded:
        return torch_export(model, tuple(inputs), keywords, strict=False)


def _output_tensors(value: Any) -> tuple[torch.Tensor, ...]:
    return tuple(tensor for _, tensor in flatten_outputs(value)[1])


def _flat(forward: Any, tensors_of: Callable[[Any], tuple[torch.Tensor, ...]]) -> Any:
    """Returns forward with a tuple of tensors as its result."""

    @functools.wraps(forward)
    def flattened(*args: Any, **kwargs: Any) -> Any:
        return tensors_of(forward(*args, **kwargs))

    return flattened


def decompose(program: Any) -> Any:
    """Returns functional core ATen without complex numbers, or the program as exported if it cannot be decomposed."""
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            program = program.run_decompositions(_decompositions())
    except Exception:
        return program
    _drop_assertions(program.graph_module)
    return real_graph(program)


def _drop_assertions(module: Any) -> None:
    """Removes checks of types, which compute nothing and would fail in the float64 reference."""
    for node in list(module.graph.nodes):
        if node.target is torch.ops.aten._assert_tensor_metadata.default and not node.users:
            module.graph.erase_node(node)
    if isinstance(module, torch.fx.GraphModule):  # a recorded graph has no code
        module.recompile()


def _decompositions() -> dict[Any, Any]:
    from torch._decomp import decomposition_table

    table = torch.export.default_decompositions()
    for name in _WHOLE:
        table.pop(operator.attrgetter(name)(torch.ops.aten), None)
    for name in _FURTHER:
        whole = operator.attrgetter(name)(torch.ops.aten)
        if whole in decomposition_table:
            table[whole] = decomposition_table[whole]
    return table


def nodes(program: Any, plan: Plan) -> list[dict[str, Any]]:
    """Returns every node in execution order, as docs/torch-protocol.md describes it."""
    inputs = placeholders(program, plan)
    result = []
    for node in program.graph.nodes:
        if node.op == "placeholder":
            result.append(_placeholder(node, inputs.get(node.name)))
        elif node.op == "output":
            result.append(_output(node, program, plan))
        else:
            result.append(_operator(node))
    return result


def placeholders(program: Any, plan: Plan) -> dict[str, Any]:
    """Maps a node name to its Argument, or to the value of an argument that is not a tensor."""
    by_place = {place: argument for argument in plan.arguments for place in argument.places}
    by_path = {argument.path: argument for argument in plan.arguments}
    leaves = {argument.leaf: argument for argument in plan.arguments if argument.role == "input"}
    found: dict[str, Any] = {}
    leaf = 0
    for spec in program.graph_signature.input_specs:
        if spec.kind.name != "USER_INPUT":
            found[spec.arg.name] = by_place.get(spec.target) or by_path.get(spec.target)
        elif hasattr(spec.arg, "value"):
            found[spec.arg.name] = ("value", spec.arg.value)
        else:
            found[spec.arg.name] = leaves.get(leaf)
            leaf += 1
    return found


def _placeholder(node: Any, meaning: Any) -> dict[str, Any]:
    if isinstance(meaning, tuple):
        return _node(node.name, "placeholder", [encode(meaning[1])], [], [])
    results, strides = _results(node)
    if meaning is not None and results:
        results[0] |= {"name": meaning.name, "path": meaning.path, "role": meaning.role}
    return _node(node.name, "placeholder", [], results, strides)


class NotInGraph(Exception):
    """forward changes something that the graph does not. The text names it."""


def output_values(program: Any, plan: Plan, values: list[Any]) -> tuple[list[Any], list[tuple[str, Any]]]:
    """`values` belong to the program's outputs. Returns those that are the task's outputs, in its order (what forward
    returns, then what it changes), and the other updates by path. Raises NotInGraph."""
    specs = program.graph_signature.output_specs
    paths = {spec.arg.name: argument for spec, argument in _inputs_of(program, plan)}
    returned: list[Any] = []
    updates: dict[str, Any] = {}
    for spec, value in zip(specs, values, strict=True):
        if spec.kind.name == "USER_OUTPUT":
            returned.append(value)
        else:
            argument = paths.get(spec.target)
            updates[argument.path if argument is not None else str(spec.target)] = value
    for number in plan.updates:
        argument = plan.arguments[number]
        place = next((p for p in [argument.path, *argument.places] if p in updates), None)
        if place is None:
            raise NotInGraph(f"forward changes {argument.path} in a way that torch.export does not see")
        returned.append(updates.pop(place))
    return returned, list(updates.items())


def _inputs_of(program: Any, plan: Plan) -> list[tuple[Any, Any]]:
    """Returns the specs of forward's tensors, each with its Argument."""
    meanings = placeholders(program, plan)
    specs = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    return [(s, meanings[s.arg.name]) for s in specs if hasattr(meanings[s.arg.name], "path")]


def _output(node: Any, program: Any, plan: Plan) -> dict[str, Any]:
    """args are the task's outputs in order. kwargs are the updates of other buffers by path."""
    results, rest = output_values(program, plan, node.args[0])
    updates = [{"name": path, "value": encode(value, _name)} for path, value in rest]
    return _node("output", "output", [encode(value, _name) for value in results], [], [], updates)


def _operator(node: Any) -> dict[str, Any]:
    results, strides = _results(node)
    if _is_reshape(node):
        args = [encode(value, _name) for value in node.args[:2]]
        return _node(node.name, "aten.view.default", args, results, strides)
    args = [encode(value, _name) for value in node.args]
    kwargs = [{"name": name, "value": encode(value, _name)} for name, value in node.kwargs.items()]
    return _node(node.name, _op_name(node), args, results, strides, kwargs)


def _is_reshape(node: Any) -> bool:
    """Returns true for an as_strided that means a view. Decompositions flatten contiguous tensors that way."""
    if node.target is not torch.ops.aten.as_strided.default:
        return False
    viewed, result = node.args[0].meta["val"], node.meta["val"]
    return (
        viewed.is_contiguous()
        and result.is_contiguous()
        and viewed.numel() == result.numel()
        and viewed.storage_offset() == result.storage_offset()
    )


def _node(
    name: str, op: str, args: list[Any], results: list[Any], strides: list[Any], kwargs: Any = ()
) -> Any:
    return {
        "name": name,
        "op": op,
        "args": args,
        "kwargs": list(kwargs),
        "results": results,
        "strides": strides,
    }


def _name(value: Any) -> str | None:
    return value.name if isinstance(value, torch.fx.Node) else None


def _op_name(node: Any) -> str:
    if node.op == "get_attr":
        return "get_attr"
    if node.target is operator.getitem:
        return "getitem"
    # "aten.linear.default", "higher_order.cond"
    return str(node.target).removeprefix("torch.ops.")


def _results(node: Any) -> tuple[list[dict[str, Any]], list[list[int]]]:
    value = node.meta.get("val")
    several = isinstance(value, (list, tuple))
    results, strides = [], []
    for index, tensor in enumerate(value if several else [value]):
        form = _form(tensor)
        if form is None:
            continue
        shape, stride = form
        name = f"{node.name}_{index}" if several else node.name
        dtype = dtype_name(tensor.dtype)
        results.append(
            {"name": name, "path": node.name, "role": "output", "dtype": dtype, "shape": shape}
        )
        strides.append(stride)
    return results, strides


def _form(value: Any) -> tuple[list[int], list[int]] | None:
    """Returns shape and strides, or None for a value that is not a tensor, that has no C++ type, or whose size is known
    only at run time."""
    if not isinstance(value, torch.Tensor) or dtype_name(value.dtype) not in DTYPES:
        return None
    try:
        return [int(n) for n in value.shape], [int(n) for n in value.stride()]
    except Exception:
        return None
