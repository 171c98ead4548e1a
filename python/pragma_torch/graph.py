"""The ATen graph of a task, from torch.export.

The graph is functional and nearly core ATen (export's default decompositions), except that linear, matmul and
scaled_dot_product_attention are kept whole. Decomposed, they are views and transposes around a batched product, which
is less informative. Recurrent networks are kept whole too. Decomposed, they have about twenty nodes per time step, and
describing one would take minutes.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import torch

from pragma_torch.errors import one_line
from pragma_torch.plan import DTYPES, Plan, dtype_name
from pragma_torch.values import encode

_WHOLE = (
    "linear.default",
    "matmul.default",
    "scaled_dot_product_attention.default",
    "lstm.input",
    "gru.input",
    "rnn_tanh.input",
    "rnn_relu.input",
)


def export(model: torch.nn.Module, inputs: list[Any]) -> tuple[Any, str]:
    """Returns (ExportedProgram, ""), or (None, the reason in one line)."""
    from torch.export import export as torch_export

    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            return torch_export(model, tuple(inputs), strict=False), ""
    except Exception as error:  # torch.export raises exceptions of almost any type
        return None, f"{type(error).__name__}: {one_line(str(error))}"


def decompose(program: Any) -> Any:
    """Returns functional core ATen, or the program as exported if it cannot be decomposed."""
    table = torch.export.default_decompositions()
    for name in _WHOLE:
        table.pop(operator.attrgetter(name)(torch.ops.aten), None)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            return program.run_decompositions(table)
    except Exception:
        return program


def nodes(program: Any, plan: Plan) -> list[dict[str, Any]]:
    """Returns every node in execution order, as docs/torch-protocol.md describes it."""
    inputs = _placeholders(program, plan)
    outputs = program.graph_signature.output_specs
    result = []
    for node in program.graph.nodes:
        if node.op == "placeholder":
            result.append(_placeholder(node, inputs.get(node.name)))
        elif node.op == "output":
            result.append(_output(node, outputs))
        else:
            result.append(_operator(node))
    return result


def _placeholders(program: Any, plan: Plan) -> dict[str, Any]:
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


def _output(node: Any, specs: Any) -> dict[str, Any]:
    """args are the outputs in order. kwargs are the updates of buffers and inputs by path."""
    args, updates = [], []
    for spec, value in zip(specs, node.args[0], strict=True):
        if spec.kind.name == "USER_OUTPUT":
            args.append(encode(value, _name))
        else:
            updates.append({"name": str(spec.target), "value": encode(value, _name)})
    return _node("output", "output", args, [], [], updates)


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
