"""Estimates how much memory a task needs, using tensors without storage before anything real is allocated."""

from __future__ import annotations

import contextlib
import io
import resource
import sys
import weakref
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from pragma_torch.errors import TaskError, format_bytes
from pragma_torch.lightmode import LightMode
from pragma_torch.taskfile import TASK_MODULE, TaskFile


class Need:
    """Bytes of arguments (inputs and state), bytes of outputs, and peak bytes of live tensors inside forward."""

    def __init__(self, arguments: int, outputs: int, peak: int) -> None:
        self.arguments = arguments
        self.outputs = outputs
        self.peak = peak

    @property
    def total(self) -> int:
        """Counts arguments in shared memory, in the native reference, and twice that in the float64 one. Counts
        outputs, native and float64, in shared memory. Counts forward's own memory in float64."""
        return 4 * self.arguments + 3 * self.outputs + 2 * self.peak

    @property
    def on_device(self) -> int:
        """Bytes of a GPU's memory that describing the task takes: the arguments, copies that forward may change and
        other ones of the same kind, the outputs of two runs, and forward's own memory."""
        return 3 * self.arguments + 2 * self.outputs + self.peak


class _PeakRecorder(LightMode):
    """Counts the bytes of results while they are alive."""

    def __init__(self) -> None:
        super().__init__()
        self.live = 0
        self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        given = {id(leaf) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)}
        if not func.is_view:
            for tensor in tree_leaves(out):
                if isinstance(tensor, torch.Tensor) and id(tensor) not in given:
                    self._add(tensor)
        return out

    def _add(self, tensor: torch.Tensor) -> None:
        size = tensor.numel() * tensor.element_size()
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(tensor, self._drop, size)

    def _drop(self, size: int) -> None:
        self.live -= size


def estimate(path: str) -> Need | None:
    """Returns None if the task does not work on tensors without storage. The real run must then report any problem.

    The file is loaded a second time, so that nothing it keeps at module level is altered.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    modules = dict(sys.modules)
    try:
        with contextlib.redirect_stdout(io.StringIO()), torch.no_grad(), FakeTensorMode():
            task = TaskFile(path)
            inputs = task.make_inputs()
            arguments = _bytes(inputs.values())
            try:
                model = task.make_model()
                arguments += _bytes(list(model.state_dict().values()))
                with _PeakRecorder() as recorder:
                    outputs = _bytes(model(*inputs.positional, **inputs.keywords))
            except Exception:
                return Need(arguments, 0, 0)
            return Need(arguments, outputs, recorder.peak)
    except BaseException:
        return None
    finally:
        # The registered module of the task must remain the one that was loaded for real.
        for name in [n for n in sys.modules if n.startswith(TASK_MODULE)]:
            if name in modules:
                sys.modules[name] = modules[name]


def check(path: str, file: str, limit: int, known: Need | None = None) -> Need | None:
    """Raises TaskError if the task needs more than `limit` bytes (0: no limit). `known` is an earlier estimate."""
    if limit <= 0:
        return None
    need = known or estimate(path)
    if need is None or need.total <= limit:
        return need
    raise TaskError(
        f"{file}: does not fit in memory: inputs and parameters take {format_bytes(need.arguments)}, outputs "
        f"{format_bytes(need.outputs)}, and with the float64 reference at least {format_bytes(need.total)} are "
        f"needed, but only {format_bytes(limit)} may be used; make the task's sizes smaller"
    )


def limit_address_space(limit: int) -> None:
    """Makes memory that the estimate missed end in an exception, not in the kernel killing processes."""
    if limit <= 0:
        return
    with open("/proc/self/statm", encoding="ascii") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + limit + (1 << 30)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _bytes(value: Any) -> int:
    leaves = tree_leaves(value)
    return sum(t.numel() * t.element_size() for t in leaves if isinstance(t, torch.Tensor))
