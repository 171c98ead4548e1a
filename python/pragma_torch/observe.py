"""observe: runs forward a few times and determines what a description says of its results and of what it changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from pragma_torch import costs
from pragma_torch.errors import TaskError, task_error
from pragma_torch.instance import Instance, OutputError, flatten_outputs, get_state
from pragma_torch.plan import Argument, Plan
from pragma_torch.rawbytes import as_bytes
from pragma_torch.taskfile import SEED, TaskFile, seed_everything

OTHER_SEED = 20240607  # any value other than SEED: what differs between the two is random
_BLOCK = 1 << 18  # elements compared at a time: their float64 copies stay in a processor's cache
# Buffers in which normalisations keep running statistics. KernelBench does not compare them, and neither do we.
_STATISTICS = frozenset(("running_mean", "running_var", "num_batches_tracked"))

Outputs = list[tuple[str, torch.Tensor]]


@dataclasses.dataclass
class Observed:
    """The observations of two runs of forward."""

    tree: Any
    outputs: Outputs  # of the first run: what forward returns, then what it changes
    recorder: costs.Recorder
    reduction_length: int
    random: bool
    stateful: bool


def guarded(task: TaskFile, forward: Callable[[], Any]) -> tuple[Any, Outputs]:
    """Returns the tree and the tensors of what `forward` returns, or raises TaskError."""
    try:
        with torch.no_grad():
            return flatten_outputs(forward())
    except OutputError as error:
        raise TaskError(f"{task.file}: {error}") from error
    except BaseException as error:
        raise task_error(task.file, "forward", error, task.path) from error


def observe(
    task: TaskFile,
    model: torch.nn.Module,
    plan: Plan,
    tensors: list[torch.Tensor],
    notes: list[str],
    updates_count: bool,
) -> Observed:
    """Runs forward twice from the same state with different seeds. Completes the plan: the tree of what forward returns,
    and what it changes. `updates_count` means that changed inputs and buffers are further outputs."""
    instance = Instance(model, plan)
    clones = [t.clone() for t in tensors]
    instance.bind(clones)
    versions = [t._version for t in clones]
    recorder = costs.Recorder()
    seed_everything(SEED)
    with recorder:
        plan.tree, first = guarded(task, instance)
    length = recorder.length_of([t for _, t in first])
    for argument, clone, version, tensor in zip(plan.arguments, clones, versions, tensors, strict=True):
        # Batch normalisation writes its statistics without changing the version counter. Views may do so too.
        written = clone._version != version or not _same_bytes(clone, tensor)
        argument.mutated = written or not _still_there(model, argument, clone)
    if updates_count:
        plan.updates = [i for i, a in enumerate(plan.arguments) if a.mutated and not is_statistics(a)]
    first = _with_updates(task, plan, instance, first)
    first = [(path, tensor.detach().clone()) for path, tensor in first]
    if not first:
        raise TaskError(f"{task.file}: forward returns no tensor, so there is nothing to compute")
    del clones
    instance.bind([t.clone() for t in tensors])
    seed_everything(OTHER_SEED)
    second = _with_updates(task, plan, instance, guarded(task, instance)[1])
    random = recorder.random or not same(first, second)
    stateful = any(a.mutated for a in plan.arguments if a.role != "input")
    _note(plan, random, notes)
    return Observed(plan.tree, first, recorder, length, random, stateful)


def is_statistics(argument: Argument) -> bool:
    return argument.role == "buffer" and argument.path.rpartition(".")[2] in _STATISTICS


def _with_updates(task: TaskFile, plan: Plan, instance: Instance, outputs: Outputs) -> Outputs:
    changed = [plan.arguments[i] for i in plan.updates]
    for argument, tensor in zip(changed, instance.updated(), strict=True):
        if list(tensor.shape) != argument.shape or tensor.dtype != argument.torch_dtype:
            raise TaskError(
                f"{task.file}: forward changes {argument.path} from {argument.dtype} {argument.shape} to "
                f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}; only changes of its values are supported"
            )
        outputs = [*outputs, (argument.path, tensor)]
    return outputs


def _note(plan: Plan, random: bool, notes: list[str]) -> None:
    compared = [plan.arguments[i].name for i in plan.updates]
    if compared:
        notes.append(f"forward changes {', '.join(compared)}: the new contents are further outputs")
    ignored = [a.name for i, a in enumerate(plan.arguments) if a.mutated and i not in plan.updates]
    if ignored:
        notes.append(f"forward writes {', '.join(ignored)}: such updates are not outputs and are not checked")
    if random:
        notes.append("forward draws random numbers: two runs on the same inputs differ")


def _still_there(model: torch.nn.Module, argument: Argument, tensor: torch.Tensor) -> bool:
    """Returns false if forward replaced the tensor by another one (self.hidden = ...)."""
    if argument.role == "input" or not argument.places:
        return True
    return all(get_state(model, place).data_ptr() == tensor.data_ptr() for place in argument.places)


def _same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(as_bytes(a), as_bytes(b))


def same(first: Outputs, second: Outputs) -> bool:
    """Returns true if both are equal, except for noise from threads that add in another order."""
    return len(first) == len(second) and all(
        alike(a, b) for (_, a), (_, b) in zip(first, second, strict=True)
    )


def alike(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return _near(a, b) if a.is_floating_point() else torch.equal(a, b)


def _near(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Compares in blocks, because a float64 comparison needs many times the memory of what it compares."""
    if _same_bytes(a, b):
        return True  # nearly always so, and a tenth of the time
    blocks = list(zip(a.reshape(-1).split(_BLOCK), b.reshape(-1).split(_BLOCK), strict=True))
    scale = max((float(x.double().abs().nan_to_num(0, 0, 0).max()) for x, _ in blocks if x.numel()), default=0.0)
    return all(
        torch.allclose(x.double(), y.double(), rtol=1e-3, atol=1e-4 * scale, equal_nan=True)
        for x, y in blocks
    )
