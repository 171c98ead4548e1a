"""describe: determines everything that core/task.h says about a task from the task's file."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import torch
from torch.utils._pytree import tree_map

from pragma_torch import costs, graph, memory, process
from pragma_torch.agreement import disagreement
from pragma_torch.device import CPU, Device
from pragma_torch.errors import TaskError
from pragma_torch.filesread import FilesRead
from pragma_torch.givens import Givens
from pragma_torch.hidden import Snapshot, check_hidden
from pragma_torch.instance import kind_of
from pragma_torch.kept import Kept
from pragma_torch.mode import mode_matters, mode_name
from pragma_torch.names import Namer, identifier
from pragma_torch.observe import Observed, Outputs, guarded, observe
from pragma_torch.plan import (
    DTYPES,
    Argument,
    Leaf,
    Plan,
    Scalar,
    UnsupportedValue,
    dtype_name,
    fill,
    flatten,
)
from pragma_torch.rawbytes import as_bytes
from pragma_torch.reads import first_read
from pragma_torch.reference import Reference
from pragma_torch.state import StateTensor, declared_state, exported_state
from pragma_torch.taskfile import TaskFile, positional_name
from pragma_torch.tree import complex_leaves
from pragma_torch.values import encode

_WRITTEN_BYTES = 16384  # a longer constant would be most of the file that it is written to
_READ_BYTES = 1 << 24  # inputs up to this size are copied for an export, which may record a run on them (recorded.py)


@dataclasses.dataclass
class Described:
    """A described task, ready for draws and references."""

    task: TaskFile
    plan: Plan
    reference: Reference
    description: dict[str, Any]
    files: list[str]  # other files of the task's folder that its code read, as relative paths
    loaded: Snapshot  # what the file's names held before forward was run

    def candidate_plan(self) -> dict[str, Any]:
        """Returns what the process of a Python candidate learns about the task: names and shapes, but no source."""
        leaves: list[Leaf] = []
        given = self.task.init_inputs()
        init, keywords = [], []
        try:
            init = [flatten(v, "init", "init", leaves, []) for v in given.positional]
            keywords = [[k, flatten(v, "init", "init", leaves, [])] for k, v in given.keywords.items()]
            why = "get_init_inputs() returns a tensor" if leaves else ""
        except UnsupportedValue as error:
            why = f"get_init_inputs(): {error}"
        return {
            "plan": self.plan.to_json(),
            "init": init,
            "init_keywords": keywords,
            "init_error": why,
            "mode": self.description["mode"],
            "outputs": [
                {"dtype": o["dtype"], "shape": o["shape"]} for o in self.description["outputs"]
            ],
        }


@dataclasses.dataclass
class _Given:
    """A task's arguments, made once."""

    task: TaskFile
    init: Givens
    model: torch.nn.Module  # on the CPU, because export writes another graph for another device
    place: str  # the device of the inputs, where forward runs
    updates_count: bool  # what forward changes is a further output
    leaves: list[Leaf]
    scalars: list[Scalar]
    template: list[Any]  # of positional arguments
    keywords: list[Any]  # [name, template] of keyword arguments

    def forms(self) -> Any:
        state = [*self.model.named_parameters(), *self.model.named_buffers()]
        return {
            "template": [self.template, self.keywords, self.updates_count],
            "inputs": [_form(leaf.tensor) for leaf in self.leaves],
            "state": [[name, *_form(tensor)] for name, tensor in state],
            "mode": mode_name(self.model),
        }


def describe(
    path: str,
    memory_limit: int = 0,
    device: str = CPU,
    evaluates: bool = False,
    updates_count: bool = True,
) -> Described:
    """Does both steps of describing a task. Raises TaskError with one clear line if anything is wrong with it."""
    return describe_loaded(load(path, memory_limit, evaluates), device, updates_count)


@dataclasses.dataclass
class Loaded:
    """A task file that was loaded, before anything of its sizes is allocated."""

    task: TaskFile
    read: FilesRead
    kept: Kept
    need: memory.Need | None
    memory_limit: int


def load(path: str, memory_limit: int = 0, evaluates: bool = False) -> Loaded:
    """`evaluates` means that the module is judged in eval mode. Raises TaskError, also for a task that needs more than
    `memory_limit` bytes (0: no limit)."""
    read = FilesRead(path)
    try:
        task = TaskFile(path, evaluates)
        kept = Kept(read)
        if not kept.known:
            graph.preload()
        need = memory.check(path, task.file, memory_limit, kept.need)
    except BaseException:
        read.stop()
        raise
    return Loaded(task, read, kept, need, memory_limit)


def describe_loaded(loaded: Loaded, device: str = CPU, updates_count: bool = True) -> Described:
    """`device` is where the task's kernels will be judged. `updates_count` means that inputs and buffers which forward
    changes are further outputs. Raises TaskError."""
    need, limit = loaded.need, loaded.memory_limit
    if need is not None and 2 * need.total > limit:
        process.return_freed_memory()  # leaves no room for the holes of a heap that only grows
    try:
        if device == CPU:  # a GPU's driver reserves far more addresses than there is memory
            memory.limit_address_space(limit)
            return _describe_on(CPU, loaded, updates_count)
        return _describe_on_device(device, loaded, updates_count)
    finally:
        loaded.read.stop()


def _describe_on_device(device: str, loaded: Loaded, updates_count: bool) -> Described:
    try:
        return _describe_on(device, loaded, updates_count)
    except Exception:  # code that mixes devices, or too little memory there; what is wrong shows here as well
        return _describe_on(CPU, loaded, updates_count)
    finally:
        torch.cuda.empty_cache()


def _describe_on(place: str, loaded: Loaded, updates_count: bool) -> Described:
    """Runs forward on `place`. With inputs of gigabytes, a GPU takes a hundredth of the CPU's time."""
    Device(place)
    task = loaded.task
    init = task.init_inputs()
    model = task.make_model()
    before = Snapshot(task, model)
    try:
        with task.inputs_on(place):
            apart = _take_apart(task, task.make_inputs())
            given = _Given(task, init, model, place, updates_count, *apart)
            return _finish(given, loaded, before)
    except Exception:
        before.restore()
        raise


def _finish(given: _Given, loaded: Loaded, before: Snapshot) -> Described:
    task, kept, need = given.task, loaded.kept, loaded.need
    found = kept.find(given.forms())
    if found is not None:
        plan, description = found
        constants: list[torch.Tensor | None] = [None] * len(plan.arguments)
    else:
        plan, constants, description = _look_at(given)
        description["peak_bytes"] = need.peak if need else 0
        if all(constant is None for constant in constants):
            kept.keep(need, plan, description)
    reference = Reference(task, plan, description["outputs"], constants, _convolves(description))
    return Described(task, plan, reference, description, loaded.read.so_far(), before)


def _look_at(given: _Given) -> tuple[Plan, list[torch.Tensor | None], dict[str, Any]]:
    """Exports the task and runs forward. Returns the plan, the values of constants that forward makes, and the
    description."""
    task = given.task
    notes: list[str] = []
    program, why = _export(given)
    # Before forward runs: then the program's parameters, which are the model's own, move to its device.
    decomposed = None if program is None else graph.decompose(program)
    model = given.model
    state = exported_state(model, program) if program is not None else declared_state(model)
    plan, tensors, constants = _plan(given, state, notes)
    before = Snapshot(task, model)
    observed = observe(task, model, plan, tensors, notes, given.updates_count)
    if not observed.random:
        notes += filter(None, [check_hidden(task, model, plan, tensors, before)])
    outputs = _output_specs(task, plan, observed.outputs)
    nodes: list[dict[str, Any]] = []
    if decomposed is not None:
        nodes, why = _graph(given, decomposed, plan, tensors, observed)
    if not nodes:
        notes.append("no graph: torch.export failed, or its graph is not what forward computes")
    description = {
        "schema": 1,
        "name": task.file.removesuffix(".py"),
        "source": task.source,
        "category": costs.category(observed.recorder, tensors, [t for _, t in observed.outputs]),
        "arguments": [
            {**a.spec(), **_written(c)} for a, c in zip(plan.arguments, constants, strict=True)
        ],
        "outputs": outputs,
        "output_kind": kind_of(observed.tree),
        "output_tree": json.dumps(observed.tree) if kind_of(observed.tree) == "tree" else "",
        "updates": [plan.arguments[i].name for i in plan.updates],
        "init_args": _init_args(task, given.init, notes),
        "call_args": [
            {"name": identifier(s.name), "value": encode(s.value)} for s in given.scalars
        ],
        "flops": observed.recorder.flops,
        "compulsory_bytes": sum(a.bytes for a in plan.arguments)
        + sum(_spec_bytes(o) for o in outputs),
        "graph": nodes,
        "export_error": why,
        "random": observed.random,
        "stateful": observed.stateful,
        "mode": mode_name(model),
        "mode_matters": mode_matters(model),
        "reduction_length": observed.reduction_length,
        "notes": notes,
    }
    return plan, constants, description


def _graph(
    given: _Given, program: Any, plan: Plan, tensors: list[torch.Tensor], observed: Observed
) -> tuple[list[dict[str, Any]], str]:
    """Returns the nodes of the decomposed program, or none with the reason why they are of no use."""
    try:
        nodes = graph.nodes(program, plan)
    except graph.NotInGraph as error:
        return [], str(error)
    if not observed.random:
        differs = disagreement(given.task, program, plan, tensors, observed.outputs)
        if differs and given.place != CPU:
            raise RuntimeError(differs)  # the graph names the CPU somewhere, perhaps, and will do there
        if differs:
            return [], f"the graph of torch.export is not what forward computes: {differs}; nothing is written from it"
    return nodes, ""


def _convolves(description: dict[str, Any]) -> bool:
    """Returns true in case of doubt."""
    nodes = description["graph"]
    return not nodes or any("conv" in node["op"] for node in nodes)


def _form(tensor: torch.Tensor) -> list[Any]:
    return [str(tensor.dtype), list(tensor.shape), list(tensor.stride())]


def _take_apart(
    task: TaskFile, given: Givens
) -> tuple[list[Leaf], list[Scalar], list[Any], list[Any]]:
    """Returns the tensors, the plain values and the templates of forward's arguments."""
    names = task.forward_names()
    leaves: list[Leaf] = []
    scalars: list[Scalar] = []
    try:
        template = [
            flatten(value, positional_name(names, i), f"args[{i}]", leaves, scalars)
            for i, value in enumerate(given.positional)
        ]
        keywords = [
            [name, flatten(value, name, f"kwargs[{name!r}]", leaves, scalars)]
            for name, value in given.keywords.items()
        ]
    except UnsupportedValue as error:
        raise TaskError(
            f"{task.file}: get_inputs(): {error}; tensors, numbers, strings, lists, tuples and dicts are supported"
        ) from error
    return leaves, scalars, template, keywords


def exported(described: Described) -> tuple[Any, list[torch.Tensor]]:
    """Returns the decomposed graph of the task's module, whose nodes have the names that the description gives them,
    and the tensors among forward's arguments."""
    task = described.task
    described.loaded.restore()  # a cache that forward has filled would give another graph
    apart = _take_apart(task, task.make_inputs())
    given = _Given(task, Givens(), task.make_model(), CPU, True, *apart)
    program, why = _export(given)
    if program is None:
        raise TaskError(f"{task.file}: torch.export failed: {why}")
    return graph.decompose(program), [leaf.tensor.detach() for leaf in given.leaves]


def _export(given: _Given) -> tuple[Any, str]:
    """Runs torch.export. If that fails, forward is run for real, so that a forward that fails by itself is reported as
    such. What the file's names hold is put back each time."""
    task = given.task
    tensors = [_exportable(leaf.tensor.detach()) for leaf in given.leaves]
    before = Snapshot(task, given.model)

    def filled(values: list[torch.Tensor]) -> tuple[list[Any], dict[str, Any]]:
        return [fill(t, values) for t in given.template], {n: fill(t, values) for n, t in given.keywords}

    # A complex view of real numbers makes torch.export write guards that fail.
    positional, keywords = tree_map(
        lambda v: v.clone() if isinstance(v, torch.Tensor) and v.is_complex() else v, filled(tensors)
    )
    program, why = graph.export(given.model, positional, keywords, task.path)
    if program is None or before.changed():
        given.model = task.make_model()  # the export has left its own tensors in the other one
    before.restore()
    if program is not None:
        return program, ""

    def run() -> Any:
        positional, keywords = filled([leaf.tensor.detach().clone() for leaf in given.leaves])
        return task.make_model().to(given.place)(*positional, **keywords)

    guarded(task, run)
    before.restore()
    read = first_read(task, run)
    before.restore()
    return None, read or why


def _exportable(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor on the CPU from which export makes the same graph. It does not read a large one, so that this
    has its form alone and takes no memory."""
    if tensor.device.type == CPU or not tensor.is_floating_point() or tensor.nbytes <= _READ_BYTES:
        return tensor.cpu()
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)


def _plan(
    given: _Given, state: list[StateTensor], notes: list[str]
) -> tuple[Plan, list[torch.Tensor], list[torch.Tensor | None]]:
    """Returns the arguments in order, their contiguous values, and the values of constants that forward makes."""
    namer = Namer()
    arguments: list[Argument] = []
    tensors: list[torch.Tensor] = []
    constants: list[torch.Tensor | None] = []
    for number, leaf in enumerate(given.leaves):
        arguments.append(_argument(given.task, namer.name(leaf.name), leaf.path, "input", leaf.tensor))
        arguments[-1].leaf = number
        arguments[-1].complex = leaf.complex
        tensors.append(_contiguous(leaf.tensor, leaf.path, notes).to(given.place))
        constants.append(None)
    for role in ("parameter", "buffer", "constant"):
        for item in (s for s in state if s.role == role):
            arguments.append(_argument(given.task, namer.name(item.path), item.path, role, item.tensor))
            arguments[-1].places = item.places
            arguments[-1].complex = item.held.is_complex()
            value = _contiguous(item.tensor, item.path, notes)
            tensors.append(value.to(given.place))
            constants.append(None if item.places else value.clone())
            if len(item.places) > 1:
                notes.append(
                    f"{arguments[-1].name} is shared: {', '.join(item.places)} are one tensor"
                )
    return Plan(arguments, given.template, given.keywords), tensors, constants


def _argument(task: TaskFile, name: str, path: str, role: str, tensor: torch.Tensor) -> Argument:
    dtype = dtype_name(tensor.dtype)
    if tensor.device.type not in (CPU, task.place) or tensor.layout != torch.strided:
        raise TaskError(
            f"{task.file}: {path} is a {tensor.layout} tensor on {tensor.device}; dense CPU tensors only"
        )
    if dtype not in DTYPES:
        raise TaskError(
            f"{task.file}: {path} has the unsupported type {dtype}; supported: {', '.join(DTYPES)}"
        )
    return Argument(name, path, role, dtype, [int(n) for n in tensor.shape])


def _written(constant: torch.Tensor | None) -> dict[str, str]:
    """Returns the bytes of a small constant that forward makes, so that a drop-in can make it too."""
    if constant is None or not 0 < constant.nbytes <= _WRITTEN_BYTES:
        return {}
    return {"constant": as_bytes(constant).numpy().tobytes().hex()}


def _contiguous(tensor: torch.Tensor, path: str, notes: list[str]) -> torch.Tensor:
    if not tensor.is_contiguous():
        notes.append(
            f"{path} is not contiguous in the task; kernels and references get it contiguous"
        )
    return tensor.detach().contiguous()


def _output_specs(task: TaskFile, plan: Plan, outputs: Outputs) -> list[dict[str, Any]]:
    """Returns what forward returns ("out", "out_0", ...), then what it changes ("x_after")."""
    namer = Namer()
    for argument in plan.arguments:
        namer.name(argument.name)
    returned = len(outputs) - len(plan.updates)
    names = ["out"] if returned == 1 else [f"out_{i}" for i in range(returned)]
    names += [f"{plan.arguments[i].name}_after" for i in plan.updates]
    in_pairs = complex_leaves(plan.tree)
    in_pairs |= {returned + n for n, i in enumerate(plan.updates) if plan.arguments[i].complex}
    specs = []
    for number, (wanted, (path, tensor)) in enumerate(zip(names, outputs, strict=True)):
        output = _argument(task, namer.name(wanted), path, "output", tensor)
        output.complex = number in in_pairs
        specs.append(output.spec())
    return specs


def _spec_bytes(spec: dict[str, Any]) -> int:
    return Argument("", "", "", spec["dtype"], spec["shape"]).bytes


def _init_args(task: TaskFile, given: Givens, notes: list[str]) -> list[dict[str, Any]]:
    names = task.init_names()
    named = [(positional_name(names, i), value) for i, value in enumerate(given.positional)]
    result = []
    for path, value in [*named, *given.keywords.items()]:
        name = identifier(path)
        if isinstance(value, torch.Tensor):
            notes.append(
                f"constructor argument {name} is a tensor: {dtype_name(value.dtype)} {list(value.shape)}"
            )
            value = None
        result.append({"name": name, "value": encode(value)})
    return result
