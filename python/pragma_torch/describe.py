"""describe: determines everything that core/task.h says about a task from the task's file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from pragma_torch import costs, graph, memory, process
from pragma_torch.errors import TaskError, task_error
from pragma_torch.filesread import FilesRead
from pragma_torch.instance import Instance, OutputError, flatten_outputs, get_state
from pragma_torch.kept import Kept
from pragma_torch.mode import mode_matters, mode_name
from pragma_torch.names import Namer, identifier
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
from pragma_torch.reference import Reference
from pragma_torch.state import StateTensor, declared_state, exported_state
from pragma_torch.taskfile import SEED, TaskFile, positional_name, seed_everything
from pragma_torch.values import encode

_OTHER_SEED = 20240607  # any value other than SEED: what differs between the two is random
_BLOCK = 1 << 22  # elements compared at a time


@dataclasses.dataclass
class Described:
    """A described task, ready for draws and references."""

    task: TaskFile
    plan: Plan
    reference: Reference
    description: dict[str, Any]
    files: list[str]  # other files of the task's folder that its code read, as relative paths

    def candidate_plan(self) -> dict[str, Any]:
        """Returns what the process of a Python candidate learns about the task: names and shapes, but no source."""
        leaves: list[Leaf] = []
        try:
            init = [flatten(v, "init", "init", leaves, []) for v in self.task.init_inputs()]
            why = "get_init_inputs() returns a tensor" if leaves else ""
        except UnsupportedValue as error:
            init, why = [], f"get_init_inputs(): {error}"
        return {
            "plan": self.plan.to_json(),
            "init": init,
            "init_error": why,
            "mode": self.description["mode"],
            "outputs": [
                {"dtype": o["dtype"], "shape": o["shape"]} for o in self.description["outputs"]
            ],
        }


@dataclasses.dataclass
class _Observed:
    """The observations of two runs of forward."""

    kind: str
    outputs: list[tuple[str, torch.Tensor]]
    recorder: costs.Recorder
    reduction_length: int
    random: bool
    stateful: bool


@dataclasses.dataclass
class _Given:
    """A task's arguments, made once."""

    task: TaskFile
    init: list[Any]
    model: torch.nn.Module
    leaves: list[Leaf]
    scalars: list[Scalar]
    template: list[Any]

    def forms(self) -> Any:
        state = [*self.model.named_parameters(), *self.model.named_buffers()]
        return {
            "template": self.template,
            "inputs": [_form(leaf.tensor) for leaf in self.leaves],
            "state": [[name, *_form(tensor)] for name, tensor in state],
            "mode": mode_name(self.model),
        }


def describe(
    path: str, memory_limit: int = 0, reserves: bool = False, evaluates: bool = False
) -> Described:
    """Raises TaskError with one clear line if anything is wrong with the task. `reserves` means that a device's driver
    will reserve far more addresses than there is memory, so the address space cannot be limited. `evaluates` means that
    the module is judged in eval mode."""
    read = FilesRead(path)
    try:
        return _describe(TaskFile(path, evaluates), memory_limit, reserves, read)
    finally:
        read.stop()


def _describe(task: TaskFile, memory_limit: int, reserves: bool, read: FilesRead) -> Described:
    path = task.path
    kept = Kept(read)
    need = memory.check(path, task.file, memory_limit, kept.need)
    if need is not None and 2 * need.total > memory_limit:
        process.return_freed_memory()  # leaves no room for the holes of a heap that only grows
    if not reserves:
        memory.limit_address_space(memory_limit)
    init = task.init_inputs()
    model = task.make_model()
    given = _Given(task, init, model, *_take_apart(task, task.make_inputs()))
    found = kept.find(given.forms())
    if found is not None:
        plan, description = found
        constants: list[torch.Tensor | None] = [None] * len(plan.arguments)
    else:
        plan, constants, description = _look_at(given)
        if all(constant is None for constant in constants):
            kept.keep(need, plan, description)
    reference = Reference(task, plan, description["outputs"], constants, _convolves(description))
    return Described(task, plan, reference, description, read.so_far())


def _look_at(given: _Given) -> tuple[Plan, list[torch.Tensor | None], dict[str, Any]]:
    """Exports the task and runs forward. Returns the plan, the values of constants that forward makes, and the
    description."""
    task, model = given.task, given.model
    notes: list[str] = []
    program, why = _export(task, model, given.template, given.leaves)
    if program is None:
        model = task.make_model()  # a failed export may leave its own tensors behind
        notes.append(
            "torch.export failed: parameters, buffers and constants in state_dict order; no graph"
        )
    state = exported_state(model, program) if program is not None else declared_state(model)
    plan, tensors, constants = _plan(given, state, notes)
    observed = _observe(task, model, plan, tensors, notes)
    outputs = _output_specs(task, plan, observed.outputs)
    description = {
        "schema": 1,
        "name": task.file.removesuffix(".py"),
        "source": task.source,
        "category": costs.category(observed.recorder, tensors, [t for _, t in observed.outputs]),
        "arguments": [a.spec() for a in plan.arguments],
        "outputs": outputs,
        "output_kind": observed.kind,
        "init_args": _init_args(task, given.init, notes),
        "call_args": [
            {"name": identifier(s.name), "value": encode(s.value)} for s in given.scalars
        ],
        "flops": observed.recorder.flops,
        "compulsory_bytes": sum(a.bytes for a in plan.arguments)
        + sum(_spec_bytes(o) for o in outputs),
        "graph": graph.nodes(graph.decompose(program), plan) if program is not None else [],
        "export_error": why,
        "random": observed.random,
        "stateful": observed.stateful,
        "mode": mode_name(model),
        "mode_matters": mode_matters(model),
        "reduction_length": observed.reduction_length,
        "notes": notes,
    }
    return plan, constants, description


def _convolves(description: dict[str, Any]) -> bool:
    """Returns true in case of doubt."""
    nodes = description["graph"]
    return not nodes or any("conv" in node["op"] for node in nodes)


def _form(tensor: torch.Tensor) -> list[Any]:
    return [str(tensor.dtype), list(tensor.shape), list(tensor.stride())]


def _take_apart(task: TaskFile, values: list[Any]) -> tuple[list[Leaf], list[Scalar], list[Any]]:
    """Returns the tensors, the plain values and the template of forward's arguments."""
    names = task.forward_names()
    leaves: list[Leaf] = []
    scalars: list[Scalar] = []
    try:
        template = [
            flatten(value, positional_name(names, i), f"args[{i}]", leaves, scalars)
            for i, value in enumerate(values)
        ]
    except UnsupportedValue as error:
        raise TaskError(
            f"{task.file}: get_inputs(): {error}; tensors, numbers, strings and lists are supported"
        ) from error
    return leaves, scalars, template


def exported(task: TaskFile) -> tuple[Any, list[torch.Tensor]]:
    """Returns the decomposed graph of the task's module, whose nodes have the names that the description gives them,
    and the tensors among forward's arguments."""
    leaves, _, template = _take_apart(task, task.make_inputs())
    program, why = _export(task, task.make_model(), template, leaves)
    if program is None:
        raise TaskError(f"{task.file}: torch.export failed: {why}")
    return graph.decompose(program), [leaf.tensor.detach() for leaf in leaves]


def _export(
    task: TaskFile, model: torch.nn.Module, template: list[Any], leaves: list[Leaf]
) -> tuple[Any, str]:
    """Runs torch.export. If that fails, forward is run for real, so that a forward that fails by itself is reported as
    such."""
    tensors = [leaf.tensor.detach() for leaf in leaves]
    program, why = graph.export(model, [fill(item, tensors) for item in template])
    if program is not None:
        return program, ""
    trial = task.make_model()
    clones = [tensor.clone() for tensor in tensors]
    _guarded(task, lambda: trial(*[fill(item, clones) for item in template]))
    return None, why


def _guarded(
    task: TaskFile, forward: Callable[[], Any]
) -> tuple[str, list[tuple[str, torch.Tensor]]]:
    """Returns the flattened outputs of `forward`, or raises TaskError."""
    try:
        with torch.no_grad():
            return flatten_outputs(forward())
    except OutputError as error:
        raise TaskError(f"{task.file}: {error}") from error
    except BaseException as error:
        raise task_error(task.file, "forward", error, task.path) from error


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
        tensors.append(_contiguous(leaf.tensor, leaf.path, notes))
        constants.append(None)
    for role in ("parameter", "buffer", "constant"):
        for item in (s for s in state if s.role == role):
            arguments.append(_argument(given.task, namer.name(item.path), item.path, role, item.tensor))
            arguments[-1].places = item.places
            tensors.append(_contiguous(item.tensor, item.path, notes))
            constants.append(None if item.places else tensors[-1].clone())
            if len(item.places) > 1:
                notes.append(
                    f"{arguments[-1].name} is shared: {', '.join(item.places)} are one tensor"
                )
    return Plan(arguments, given.template), tensors, constants


def _argument(task: TaskFile, name: str, path: str, role: str, tensor: torch.Tensor) -> Argument:
    dtype = dtype_name(tensor.dtype)
    if tensor.device.type != "cpu" or tensor.layout != torch.strided:
        raise TaskError(
            f"{task.file}: {path} is a {tensor.layout} tensor on {tensor.device}; dense CPU tensors only"
        )
    if dtype not in DTYPES:
        raise TaskError(
            f"{task.file}: {path} has the unsupported type {dtype}; supported: {', '.join(DTYPES)}"
        )
    return Argument(name, path, role, dtype, [int(n) for n in tensor.shape])


def _contiguous(tensor: torch.Tensor, path: str, notes: list[str]) -> torch.Tensor:
    if not tensor.is_contiguous():
        notes.append(
            f"{path} is not contiguous in the task; kernels and references get it contiguous"
        )
    return tensor.detach().contiguous()


def _observe(
    task: TaskFile,
    model: torch.nn.Module,
    plan: Plan,
    tensors: list[torch.Tensor],
    notes: list[str],
) -> _Observed:
    """Runs forward twice from the same state with different seeds."""
    instance = Instance(model, plan)
    clones = [t.clone() for t in tensors]
    instance.bind(clones)
    versions = [t._version for t in clones]
    recorder = costs.Recorder()
    seed_everything(SEED)
    with recorder:
        kind, first = _guarded(task, instance)
    length = recorder.length_of([t for _, t in first])
    first = [(path, tensor.detach().clone()) for path, tensor in first]
    for argument, clone, version, tensor in zip(
        plan.arguments, clones, versions, tensors, strict=True
    ):
        # Batch normalisation writes its statistics without changing the version counter. Views may do so too.
        written = clone._version != version or not _same_bytes(clone, tensor)
        argument.mutated = written or not _still_there(model, argument, clone)
    del clones
    instance.bind([t.clone() for t in tensors])
    seed_everything(_OTHER_SEED)
    _, second = _guarded(task, instance)
    random = recorder.random or not _same(first, second)
    stateful = any(a.mutated for a in plan.arguments if a.role != "input")
    updated = [a.name for a in plan.arguments if a.mutated]
    if updated:
        notes.append(
            f"forward writes {', '.join(updated)}: such updates are not outputs and are not checked"
        )
    if random:
        notes.append("forward draws random numbers: two runs on the same inputs differ")
    return _Observed(kind, first, recorder, length, random, stateful)


def _still_there(model: torch.nn.Module, argument: Argument, tensor: torch.Tensor) -> bool:
    """Returns false if forward replaced the tensor by another one (self.hidden = ...)."""
    if argument.role == "input" or not argument.places:
        return True
    return all(get_state(model, place).data_ptr() == tensor.data_ptr() for place in argument.places)


def _same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))


def _same(first: list[tuple[str, torch.Tensor]], second: list[tuple[str, torch.Tensor]]) -> bool:
    """Returns true if both are equal, except for noise from threads that add in another order."""
    if len(first) != len(second):
        return False
    for (_, a), (_, b) in zip(first, second, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if not (_near(a, b) if a.is_floating_point() else torch.equal(a, b)):
            return False
    return True


def _near(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Compares in blocks, because a float64 comparison needs many times the memory of what it compares."""
    blocks = list(zip(a.reshape(-1).split(_BLOCK), b.reshape(-1).split(_BLOCK), strict=True))
    scale = max((float(x.double().abs().nan_to_num(0, 0, 0).max()) for x, _ in blocks if x.numel()), default=0.0)
    return all(
        torch.allclose(x.double(), y.double(), rtol=1e-3, atol=1e-4 * scale, equal_nan=True)
        for x, y in blocks
    )


def _output_specs(
    task: TaskFile, plan: Plan, outputs: list[tuple[str, torch.Tensor]]
) -> list[dict[str, Any]]:
    namer = Namer()
    for argument in plan.arguments:
        namer.name(argument.name)
    single = len(outputs) == 1
    specs = []
    for index, (path, tensor) in enumerate(outputs):
        name = namer.name("out" if single else f"out_{index}")
        specs.append(_argument(task, name, path, "output", tensor).spec())
    return specs


def _spec_bytes(spec: dict[str, Any]) -> int:
    return Argument("", "", "", spec["dtype"], spec["shape"]).bytes


def _init_args(task: TaskFile, values: list[Any], notes: list[str]) -> list[dict[str, Any]]:
    names = task.init_names()
    result = []
    for index, value in enumerate(values):
        name = identifier(positional_name(names, index))
        if isinstance(value, torch.Tensor):
            notes.append(
                f"constructor argument {name} is a tensor: {dtype_name(value.dtype)} {list(value.shape)}"
            )
            value = None
        result.append({"name": name, "value": encode(value)})
    return result
