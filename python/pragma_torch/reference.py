"""Reference: draws input sets and computes expected outputs in pragma's shared memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from pragma_torch.areas import Area
from pragma_torch.convolutions import ConvolutionsInBlocks
from pragma_torch.errors import ServerError, TaskError, one_line, task_error
from pragma_torch.instance import Instance, get_state
from pragma_torch.plan import Argument, Leaf, Plan, flatten, pairs_of
from pragma_torch.taskfile import TaskFile
from pragma_torch.tree import TreeError, pick
from pragma_torch.widening import WideCasts

FLOAT64 = "float64"
NATIVE = "native"


@contextlib.contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Sets the dtype of tensors that forward makes without naming one."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a copy in which floating-point tensors are float64."""
    return tensor.to(torch.float64, copy=True) if tensor.is_floating_point() else tensor.clone()


class Reference:
    """A task's reference, kept ready: one Model per precision, bound anew to its arguments each time."""

    def __init__(
        self,
        task: TaskFile,
        plan: Plan,
        outputs: list[dict[str, Any]],
        constants: list[torch.Tensor | None],
        convolves: bool,
    ) -> None:
        """`outputs` are their specs. `constants` has, for each argument, the value of a constant that forward makes
        itself."""
        self._task = task
        self._plan = plan
        self._outputs = outputs
        self._constants = constants
        self._convolves = convolves
        self._instances: dict[str, Instance] = {}
        self._float64_fails = ""  # why
        self._float64_works = False  # it did, on some inputs
        self._device = "cpu"

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def outputs(self) -> list[dict[str, Any]]:
        return self._outputs

    def move_to(self, device: str) -> None:
        """Everything that is drawn and computed from now on is on this device."""
        self._device = device
        self._constants = [c if c is None else c.to(device) for c in self._constants]
        self._instances.clear()

    def drawn(self, seed: int) -> list[torch.Tensor]:
        """Like draw, but returns fresh tensors on the device. They are made there if the task's code allows it."""
        if self._device != "cpu":
            try:
                with torch.device(self._device):
                    return self._draw_tensors(seed)
            except Exception:  # code that mixes devices, or names one
                pass
        return self._draw_tensors(seed)

    def _draw_tensors(self, seed: int) -> list[torch.Tensor]:
        model = self._task.make_model(seed)
        leaves = self._drawn_leaves(seed)
        sources = [self._source(i, a, model, leaves).detach() for i, a in enumerate(self._plan.arguments)]
        for argument, source in zip(self._plan.arguments, sources, strict=True):
            self._check_form(argument, source)
        return [source.to(self._device).contiguous() for source in sources]

    def results(self, precision: str, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the outputs for these arguments, which are not changed."""
        results, _ = self._results(precision, tensors)
        for spec, result in zip(self._outputs, results, strict=True):
            self._check_output(spec, result)
        return [result.contiguous() for result in results]

    def draw(self, seed: int, area: Area, offsets: list[int]) -> None:
        """Calls get_inputs() and makes a fresh Model under `seed`. Every argument is written at its offset in bytes."""
        model = self._task.make_model(seed)
        leaves = self._drawn_leaves(seed)
        for i, (argument, offset) in enumerate(zip(self._plan.arguments, offsets, strict=True)):
            source = self._source(i, argument, model, leaves)
            self._check_form(argument, source)
            area.tensor(offset, argument.torch_dtype, argument.shape).copy_(source.detach())

    def _drawn_leaves(self, seed: int) -> list[Leaf]:
        leaves: list[Leaf] = []
        for index, value in enumerate(self._task.make_inputs(seed).values()):
            flatten(value, f"arg{index}", f"args[{index}]", leaves, [])
        return leaves

    def _check_form(self, argument: Argument, source: torch.Tensor) -> None:
        if list(source.shape) != argument.shape or source.dtype != argument.torch_dtype:
            raise TaskError(
                f"{self._task.file}: {argument.path} changes its shape or type from one draw to the next "
                f"({argument.dtype} {argument.shape}, then {source.dtype} {list(source.shape)})"
            )

    def _check_output(self, spec: dict[str, Any], result: torch.Tensor) -> None:
        if list(result.shape) != spec["shape"]:
            raise TaskError(
                f"{self._task.file}: output {spec['name']} changes its shape from {spec['shape']} to "
                f"{list(result.shape)}; only fixed shapes are supported"
            )

    def _source(
        self, i: int, argument: Argument, model: torch.nn.Module, leaves: list[Leaf]
    ) -> torch.Tensor:
        if argument.role == "input":
            if argument.leaf >= len(leaves):
                raise TaskError(
                    f"{self._task.file}: get_inputs() returns fewer tensors from one draw to the next"
                )
            return leaves[argument.leaf].tensor
        constant = self._constants[i]
        return constant if constant is not None else get_state(model, argument.places[0])

    def expect(
        self, precision: str, arguments: Area, offsets: list[int], outputs: Area, places: list[int]
    ) -> str:
        """Runs forward on the arguments and writes every output. Returns a note if float64 did not work."""
        tensors = [
            arguments.tensor(offset, a.torch_dtype, a.shape)
            for a, offset in zip(self._plan.arguments, offsets, strict=True)
        ]
        self._check_constants(tensors)
        results, note = self._results(precision, tensors)
        for spec, place, result in zip(self._outputs, places, results, strict=True):
            self._check_output(spec, result)
            native = getattr(torch, spec["dtype"])
            wide = torch.float64 if precision == FLOAT64 and native.is_floating_point else native
            outputs.tensor(place, wide, spec["shape"]).copy_(result)
        return note

    def _check_constants(self, tensors: list[torch.Tensor]) -> None:
        for argument, tensor, constant in zip(
            self._plan.arguments, tensors, self._constants, strict=True
        ):
            if constant is not None and not torch.equal(tensor, constant):
                raise ServerError(
                    f"{argument.name} is a constant that forward makes; its value cannot be changed"
                )

    def _results(
        self, precision: str, tensors: list[torch.Tensor]
    ) -> tuple[list[torch.Tensor], str]:
        if precision == FLOAT64 and not self._float64_fails:
            try:
                results = self._run(FLOAT64, [widened(t) for t in tensors])
                self._float64_works = True
                return results, ""
            except Exception as error:
                self._instances.pop(FLOAT64, None)
                # These inputs have no truth then. Torch's own results, which may be rounded to 16 bits, would be none.
                if self._float64_works or isinstance(error, MemoryError) or "allocate" in str(error):
                    raise task_error(
                        self._task.file, "forward in float64", error, self._task.path
                    ) from error
                self._float64_fails = f"{type(error).__name__}: {one_line(str(error), 160)}"
        try:
            results = self._run(NATIVE, [t.clone() for t in tensors])
        except BaseException as error:
            self._instances.pop(NATIVE, None)
            raise task_error(self._task.file, "forward", error, self._task.path) from error
        note = ""
        if precision == FLOAT64:
            note = f"forward does not work in float64, expected values are in its own precision ({self._float64_fails})"
        return results, note

    def _run(self, precision: str, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        instance = self._instances.get(precision)
        if instance is None:
            model = self._task.make_model().to(self._device)
            if precision == FLOAT64:
                model = model.double()
            instance = self._instances[precision] = Instance(model, self._plan)
        instance.bind(tensors)
        wide = precision == FLOAT64
        dtype = torch.float64 if wide else torch.get_default_dtype()
        casts = WideCasts() if wide else contextlib.nullcontext()
        blocks = ConvolutionsInBlocks() if wide and self._convolves else contextlib.nullcontext()
        try:
            with torch.no_grad(), default_dtype(dtype), casts, blocks:
                return self._leaves_of(instance()) + instance.updated()
        finally:
            instance.release_inputs()  # they can be gigabytes, and are new each time

    def _leaves_of(self, returned: Any) -> list[torch.Tensor]:
        """Returns the tensors that forward returned. Everything else must be as it was when the task was described."""
        try:
            found = pick(self._plan.tree, returned)
        except TreeError as error:
            raise TaskError(
                f"{self._task.file}: forward returns another form from one draw to the next: {error}; return what depends "
                "on data as a tensor"
            ) from error
        return [pairs_of(found[leaf][1]) for leaf in range(len(found))]
