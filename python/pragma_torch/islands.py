"""Islands: connected parts of a task's graph, each as a task file of its own (docs/islands.md).

The caller decides which nodes form an island. Here each island becomes the text of a KernelBench file: forward calls
the island's ATen operators, parameters keep their shapes, and inputs are drawn like the values that crossed the
island's border in a real forward (border.py). Nodes that belong to no island stay Torch's: `Step`s say in which order
islands and such operators compute the whole.
"""

from __future__ import annotations

import dataclasses
import operator
from time import perf_counter
from typing import Any

import torch

from pragma_torch.border import drawn_like, weight_like
from pragma_torch.errors import ServerError, TaskError
from pragma_torch.graph import output_values
from pragma_torch.names import Namer
from pragma_torch.plan import Plan, pairs_of


@dataclasses.dataclass
class Step:
    """One line of the whole's forward: an operator of Torch, or a call of an island."""

    island: int = -1  # -1: an operator of Torch
    line: str = ""  # the operator as Python; empty for an island


class Graph:
    """The operators of an exported program, with the border of every island."""

    def __init__(self, program: Any, islands: list[list[str]]) -> None:
        self.nodes = [n for n in program.graph.nodes if n.op not in ("placeholder", "output")]
        self.placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
        self.output = next(n for n in program.graph.nodes if n.op == "output")
        by_name = {n.name: n for n in self.nodes}
        unknown = [name for names in islands for name in names if name not in by_name]
        if unknown:
            raise ServerError(f"the graph has no operator {unknown[0]}")
        self.islands = [[n for n in self.nodes if n.name in set(names)] for names in islands]
        self.constants: set[Any] = set()  # operators that depend on no argument
        for node in self.nodes:
            if node.op == "call_function" and all(n in self.constants for n in node.all_input_nodes):
                self.constants.add(node)

    def inputs(self, island: list[Any]) -> list[Any]:
        """Returns the nodes outside the island that it reads, in the order of the graph."""
        inside = set(island)
        read = {source for node in island for source in node.all_input_nodes if source not in inside}
        return [n for n in [*self.placeholders, *self.nodes] if n in read]

    def outputs(self, island: list[Any]) -> list[Any]:
        """Returns the nodes of the island that something outside reads. What reads a constant computes it again."""
        inside = set(island)
        return [n for n in island if n not in self.constants and any(user not in inside for user in n.users)]

    def steps(self) -> list[Step]:
        """Returns islands and single operators in an order in which each finds its inputs computed.

        A constant (a mask, a range of positions) may belong to several islands: each then computes it again, and so
        does Torch if one of its operators reads it.
        """
        units: list[tuple[int, list[Any]]] = [(index, nodes) for index, nodes in enumerate(self.islands)]
        units += [(-1, [node]) for node in self._torchs()]
        known = set(self.placeholders)
        steps: list[Step] = []
        while units:
            ready = next((u for u in units if all(n in known for n in self.inputs(u[1]))), None)
            if ready is None:
                raise ServerError("the islands wait for each other: one of them is not convex")
            units.remove(ready)
            index, nodes = ready
            known |= set(nodes) if index < 0 else set(self.outputs(nodes))
            steps.append(Step(line=line_of(nodes[0])) if index < 0 else Step(index))
        return steps

    def _torchs(self) -> list[Any]:
        """Returns the operators that are Torch's: those of no island, and the constants that these or results read."""
        owned = {node for nodes in self.islands for node in nodes}
        wanted = {node for node in self.nodes if node not in owned}
        read = [*self.output.all_input_nodes, *(n for node in wanted for n in node.all_input_nodes)]
        while read:
            node = read.pop()
            if node in self.constants and node not in wanted:
                wanted.add(node)
                read += node.all_input_nodes
        return [node for node in self.nodes if node in wanted]

    def results(self, program: Any, plan: Plan) -> list[str]:
        """Returns the names of the task's outputs: what forward returns, then what it changes."""
        return [value_text(value) for value in output_values(program, plan, self.output.args[0])[0]]


def line_of(node: Any) -> str:
    """Returns the node as a line of Python: "mul = torch.ops.aten.mul.Tensor(x, 2.0)"."""
    if node.op != "call_function":
        raise ServerError(f"{node.name}: an operator of kind {node.op} cannot be written as Python")
    args = [value_text(value) for value in node.args]
    if node.target is operator.getitem:
        return f"{node.name} = {args[0]}[{args[1]}]"
    if getattr(node.target, "__module__", "") in ("builtins", "_operator", "math"):
        return f"{node.name} = {_python_text(node.target, args)}"  # a number that forward reads from a tensor
    if not isinstance(node.target, torch._ops.OpOverload):
        raise TaskError(f"its graph has {node.target}, which cannot be written as Python")
    args += [f"{name}={value_text(value)}" for name, value in node.kwargs.items()]
    return f"{node.name} = torch.ops.{node.target}({', '.join(args)})"


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}
_SYMBOLS |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and_": "&", "or_": "|"}


def _python_text(function: Any, args: list[str]) -> str:
    """Returns a call of a function of Python on numbers."""
    name = function.__name__
    if name in _SYMBOLS:
        return f"{args[0]} {_SYMBOLS[name]} {args[1]}"
    if function.__module__ == "builtins" or name == "abs":
        return f"{name}({', '.join(args)})"
    if name in ("neg", "not_", "pos"):
        return f"{dict(neg='-', not_='not ', pos='+')[name]}{args[0]}"
    raise TaskError(f"its graph has {function.__module__}.{name}, which cannot be written as Python")


def value_text(value: Any) -> str:
    """Returns an argument of a node as Python."""
    if isinstance(value, torch.fx.Node):
        return value.name
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(value_text(item) for item in value)}]"
    if isinstance(value, float) and value != value or value in (float("inf"), float("-inf")):
        return f"float({str(value)!r})"
    if isinstance(value, torch.SymInt):
        return str(int(value))
    if isinstance(value, torch.device):
        return repr(str(value))
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype, torch.layout, torch.memory_format)):
        return repr(value)
    raise ServerError(f"an argument of type {type(value).__name__} cannot be written as Python")


class _Recorder(torch.fx.Interpreter):
    """Runs the graph and keeps the values of some nodes."""

    def __init__(self, module: Any, wanted: set[str]) -> None:
        super().__init__(module)
        self._wanted = wanted
        self.values: dict[str, Any] = {}

    def run_node(self, node: Any) -> Any:
        value = super().run_node(node)
        if node.name in self._wanted:
            self.values[node.name] = value.detach().clone() if isinstance(value, torch.Tensor) else value
        return value


def flat_arguments(program: Any, leaves: list[torch.Tensor]) -> list[Any]:
    """Returns the values of a program's placeholders in order; `leaves` are those of forward's tensors."""
    rest = iter(leaves)
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name != "USER_INPUT":
            held = program.state_dict.get(spec.target)
            values.append(pairs_of(program.constants[spec.target] if held is None else held))
        elif hasattr(spec.arg, "value"):
            values.append(spec.arg.value)
        else:
            values.append(next(rest))
    return values


def cut(program: Any, leaves: list[torch.Tensor], title: str, islands: list[list[str]]) -> dict[str, Any]:
    """Returns the task file of every island, for which forward is run once."""
    graph = Graph(program, islands)
    borders = [graph.inputs(island) for island in graph.islands]
    wanted = {node.name for border in borders for node in border}
    recorder = _Recorder(program.graph_module, wanted)
    with torch.no_grad():
        recorder.run(*flat_arguments(program, leaves))
    roles = _roles(program)
    files = [
        _task_file(f"island {index + 1} of {len(islands)} of {title}", graph, island, roles, recorder.values)
        for index, island in enumerate(graph.islands)
    ]
    return {"islands": files}


def arrange(program: Any, plan: Plan, islands: list[list[str]]) -> dict[str, Any]:
    """Returns the steps of the whole and the names of its results."""
    graph = Graph(program, islands)
    return {"steps": [dataclasses.asdict(step) for step in graph.steps()], "results": graph.results(program, plan)}


def _roles(program: Any) -> dict[str, tuple[str, str]]:
    """Maps a placeholder's name to its kind (PARAMETER, BUFFER, CONSTANT_TENSOR, USER_INPUT) and its path."""
    specs = program.graph_signature.input_specs
    return {spec.arg.name: (spec.kind.name, str(spec.target or spec.arg.name)) for spec in specs}


def _task_file(
    title: str, graph: Graph, island: list[Any], roles: dict[str, tuple[str, str]], values: dict[str, Any]
) -> dict[str, Any]:
    namer = Namer()
    state: list[str] = []
    inputs: list[tuple[str, str]] = []
    lines: list[str] = []
    arguments: dict[str, str] = {}  # the island's argument by path -> the name of the whole's value
    for node in graph.inputs(island):
        kind, path = roles.get(node.name, ("USER_INPUT", node.name))
        value = values[node.name]
        if not isinstance(value, torch.Tensor) and node.op != "placeholder":
            raise TaskError(f"forward reads {node.name} from a tensor, and no kernel of a part can take that number")
        if not isinstance(value, torch.Tensor):
            lines.append(f"{node.name} = {value_text(value)}")
        elif kind in ("PARAMETER", "BUFFER") or _is_number(kind, value):
            name = namer.name(path)
            state.append(_state_line(kind, name, weight_like(value) if kind != "CONSTANT_TENSOR" else _number(value)))
            lines.append(f"{node.name} = self.{name}")
            arguments[name] = node.name
        else:
            arguments[f"args[{len(inputs)}]"] = node.name
            inputs.append((node.name, drawn_like(value)))
    outputs = [node.name for node in graph.outputs(island)]
    body = [*lines, *map(line_of, island), f"return {outputs[0] if len(outputs) == 1 else '(' + ', '.join(outputs) + ')'}"]
    text = _FILE.format(
        title=title,
        state="".join(f"\n        {line}" for line in state),
        parameters="".join(f", {name}" for name, _ in inputs),
        body="\n        ".join(body),
        inputs="".join(f"\n        {expression},  # {name}" for name, expression in inputs),
    )
    return {"source": text, "arguments": arguments, "outputs": outputs}


def _is_number(kind: str, value: torch.Tensor) -> bool:
    """Returns whether the value is a number that forward makes itself. It is the same in every call, and other values may
    make no sense: a size, say, by which positions are divided."""
    return kind == "CONSTANT_TENSOR" and value.dim() == 0


def _number(value: torch.Tensor) -> str:
    return f"torch.tensor({value_text(value.item())}, dtype={value.dtype})"


def _state_line(kind: str, name: str, expression: str) -> str:
    if kind == "PARAMETER":
        return f"self.{name} = torch.nn.Parameter({expression}, requires_grad=False)"
    return f'self.register_buffer("{name}", {expression})'


_FILE = '''# {title}. Written by pragma; values are drawn like those of a real forward.
import torch


def like(shape, quantiles, dtype=torch.float32):
    """Draws from the distribution with these equally spaced quantiles, in parts that stay in the caches."""
    levels = torch.tensor(quantiles, dtype=torch.float64)
    steps = levels.diff()
    made = torch.empty(shape, dtype=dtype)
    for part in made.view(-1).split(32768):
        place = torch.rand(part.shape, dtype=torch.float64) * len(steps)
        below = place.int().clamp_(max=len(steps) - 1)
        start, step = levels.index_select(0, below), steps.index_select(0, below)
        part.copy_(torch.addcmul(start, step, place - below))
    return made


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__(){state}

    def forward(self{parameters}):
        {body}


def get_inputs():
    return [{inputs}
    ]


def get_init_inputs():
    return []
'''


def operator_seconds(program: Any, leaves: list[torch.Tensor], rounds: int = 3) -> dict[str, float]:
    """Returns the shortest time of each operator over some rounds, in seconds, run one by one."""
    timer = _Timer(program.graph_module)
    arguments = flat_arguments(program, leaves)
    with torch.no_grad():
        for _ in range(rounds + 1):  # the first round warms up and counts only where no other is shorter
            timer.run(*arguments)
    return timer.seconds


class _Timer(torch.fx.Interpreter):
    def __init__(self, module: Any) -> None:
        super().__init__(module)
        self.seconds: dict[str, float] = {}

    def run_node(self, node: Any) -> Any:
        before = perf_counter()
        value = super().run_node(node)
        elapsed = perf_counter() - before
        if node.op == "call_function":
            self.seconds[node.name] = min(elapsed, self.seconds.get(node.name, elapsed))
        return value
