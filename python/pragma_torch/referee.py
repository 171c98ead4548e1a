"""Referee: everything by which a Triton candidate is judged, in device memory (docs/gpu.md).

Its input sets and their fp64 references are in memory of this process alone. A measured process gets copies in an
exchange (exchange.py), and its outputs are compared with the reference here. The meaning of the figures is decided by
pragma (src/verify/).
"""

from __future__ import annotations

import random
import socket
from typing import Any

import torch

from pragma_torch import batteries, figures
from pragma_torch.conditioning import Rounding, allowances, typical_of, wrong_small_values
from pragma_torch.device import Device
from pragma_torch.errors import ServerError, TaskError
from pragma_torch.exchange import Exchange
from pragma_torch.plan import DTYPES
from pragma_torch.reference import FLOAT64, NATIVE, Reference
from pragma_torch.structure import Structure, mirror

_PIECES = 8  # pieces of a spliced tensor
_MIN_PIECE = 16
_EXACT_INTEGERS = 2.0**24

_Tensors = list[torch.Tensor]


class _Slot:
    """One input set: its arguments, the expected outputs, and Torch's own result if it is known."""

    def __init__(self, arguments: _Tensors) -> None:
        self.arguments = arguments
        self.truth: _Tensors = []
        self.native: _Tensors | None = None
        self.timed_native: _Tensors | None = None  # the same of a timed set, where outputs are integers

    def near(self, count: int) -> list[torch.Tensor | None]:
        """Returns Torch's own outputs as far as they are known: an integer may be theirs where it differs from the truth.
        """
        return list(self.native or self.timed_native or [None] * count)


class Referee:
    def __init__(self, reference: Reference, device: str, solution: dict[str, Any] | None = None) -> None:
        """The device is started when the first set is requested. `solution` is passed on (exchange.py)."""
        self._reference = reference
        self._solution = solution
        self._plan = reference.plan
        self._outputs = reference.outputs
        self._name = device
        self._device: Device | None = None
        self._draws: list[_Tensors] = []
        self._slots: list[_Slot] = []
        self._areas: dict[int, Exchange] = {}
        self._structures: list[Structure] = []
        self._kept: _Tensors = []
        self._draws_refills = False
        self._signs: dict[int, bool] = {}  # by argument: drawn values have both signs

    # --- sets ---

    def open(self, sets: int, draws: int) -> None:
        if self._device is None:
            self._device = Device(self._name)
            self._reference.move_to(self._name)
        for area in list(self._areas):
            self.drop(area)
        self._draws = [[] for _ in range(draws)]
        self._slots = [_Slot(self._empty()) for _ in range(sets)]
        self._structures = []
        self._signs = {}
        spliced = [a for a in self._plan.arguments if a.torch_dtype.is_floating_point and a.role != "constant"]
        self._draws_refills = not spliced  # integers come whole from a few draws, which a kernel could remember

    def _empty(self) -> _Tensors:
        return [torch.empty(a.shape, dtype=a.torch_dtype, device=self._name) for a in self._plan.arguments]

    def draw(self, seed: int, draw: int, slot: int) -> list[dict[str, Any]]:
        self._draws[draw] = self._reference.drawn(seed)
        if not self._structures:
            self._structures = batteries.structures_of(self._draws[draw])
        return self.restore(draw, slot)

    def restore(self, draw: int, slot: int) -> list[dict[str, Any]]:
        self._fill(self._slots[slot], self._draws[draw])
        return self._judge_torch(self._slots[slot])

    def battery(self, message: dict[str, Any]) -> dict[str, Any]:
        drawn = [d for d in self._draws if d]
        slot = self._slots[message["slot"]]
        self._fill(slot, drawn[message["draw"] % len(drawn)])
        batteries.apply(message, self._plan.arguments, self._structures, slot.arguments)
        try:
            return {"outputs": self._judge_torch(slot)}
        except TaskError as error:
            return {"refused": error.message, "outputs": []}

    def renew(self, slots: list[int], seed: int) -> None:
        """Timed outputs are compared with Torch's own result. Integers must equal the truth, or Torch's own where the two
        differ: a value half-way between two integers is rounded by chance."""
        chance = random.Random(seed)
        floating = all(DTYPES[o["dtype"]].is_floating_point for o in self._outputs)
        for number in slots:
            slot = self._slots[number]
            if self._draws_refills:
                self._fill(slot, self._reference.drawn(chance.getrandbits(62)))
            else:
                self._splice(slot, chance)
            slot.native, slot.timed_native, slot.truth = None, None, []  # frees memory that may be needed below
            slot.truth = self._reference.results(NATIVE if floating else FLOAT64, slot.arguments)
            if not self._draws_refills and not self._finite(slot):
                self._draws_refills = True  # the task needs more structure than a splice preserves
                self._fill(slot, self._reference.drawn(chance.getrandbits(62)))
                slot.truth = self._reference.results(NATIVE if floating else FLOAT64, slot.arguments)
            slot.timed_native = None if floating else self._reference.results(NATIVE, slot.arguments)

    def _fill(self, slot: _Slot, arguments: _Tensors) -> None:
        for own, given in zip(slot.arguments, arguments, strict=True):
            own.copy_(given)

    def _finite(self, slot: _Slot) -> bool:
        checks = [torch.isfinite(t).all() for t in slot.truth if t.is_floating_point()]
        if not checks or any(s.non_finite for s in self._structures):
            return True
        return bool(torch.stack(checks).all())

    def _splice(self, slot: _Slot, chance: random.Random) -> None:
        """Combines scaled pieces of several drawn sets, which gives fresh values with the structure of drawn ones."""
        drawn = [d for d in self._draws if d]
        for i, (argument, own) in enumerate(zip(self._plan.arguments, slot.arguments, strict=True)):
            if not own.is_floating_point() or argument.role == "constant":
                own.copy_(chance.choice(drawn)[i])
                continue
            flat, count = own.view(-1), own.numel()
            flips = self._both_signs(i)
            begin = 0
            while begin < count:
                end = min(count, begin + _MIN_PIECE + chance.randrange(2 * count // _PIECES + _MIN_PIECE))
                sign = -1.0 if flips and chance.random() < 0.5 else 1.0
                source = chance.choice(drawn)[i].view(-1)[begin:end]
                torch.mul(source, sign * (0.5 + 0.5 * chance.random()), out=flat[begin:end])
                begin = end
            if self._structures[i].symmetric:
                mirror(own)

    def _both_signs(self, i: int) -> bool:
        if i not in self._signs:
            sample = next(d for d in self._draws if d)[i].view(-1)[:4096]
            self._signs[i] = bool((sample < 0).any()) and bool((sample > 0).any())
        return self._signs[i]

    def _judge_torch(self, slot: _Slot) -> list[dict[str, Any]]:
        """Computes the fp64 reference and Torch's own result, and returns the error of the latter."""
        slot.native, slot.timed_native, slot.truth = None, None, []
        slot.truth = self._reference.results(FLOAT64, slot.arguments)
        slot.native = self._reference.results(NATIVE, slot.arguments)
        result = self._torchs_errors(slot.native, slot.truth)
        for found, native, truth in zip(result, slot.native, slot.truth, strict=True):
            found |= _about_truth(native, truth)
        return result

    def _torchs_errors(self, natives: _Tensors, truths: _Tensors) -> list[dict[str, Any]]:
        pairs = zip(natives, truths, self._outputs, strict=True)
        return figures.read([figures.passes(n, t, DTYPES[o["dtype"]]) for n, t, o in pairs])

    # --- areas ---

    def share(self, area: int, with_outputs: bool, shifts: bool, end: socket.socket) -> dict[str, Any]:
        """Returns where everything in the area is located."""
        if area not in self._areas:
            made = Exchange(self._name, self._plan, self._outputs, len(self._slots), with_outputs, shifts, self._solution)
            # Torch's processes compute while they are loaded, so they need values that the task could draw.
            values = next((d for d in self._draws if d), None) or self._reference.drawn(0)
            for arguments in made.arguments:
                for own, value in zip(arguments, values, strict=True):
                    own.copy_(value)
            self._synchronize()
            self._areas[area] = made
        self._areas[area].send(end)
        return self._areas[area].layout

    def drop(self, area: int) -> None:
        exchange = self._areas.pop(area, None)
        if exchange is not None:
            exchange.close()

    def put(self, area: int, slots: list[int], seed: int, fill: bool) -> None:
        """`fill` means that the outputs are filled too."""
        exchange = self._area(area)
        for number in slots:
            for own, given in zip(exchange.arguments[number], self._slots[number].arguments, strict=True):
                own.copy_(given)
            if exchange.outputs and fill:
                exchange.mark(number)
                for i, output in enumerate(exchange.outputs[number]):
                    _poison(output, (seed + 1009 * number + i) % (1 << 62))
        self._synchronize()

    def compare(self, area: int, slots: list[int]) -> list[dict[str, Any]]:
        exchange = self._area(area)
        timed = all(self._slots[number].near(1)[0] is None for number in slots)
        flags = [flag for number in slots for flag in self._flags(exchange, number)]
        if timed:
            found = figures.read_timed([o for number in slots for o in self._outputs_of(exchange, number)])
        else:
            found = figures.read([p for number in slots for p in self._passes(exchange, number)])
        bits = torch.stack(flags).cpu().tolist()
        width, count = len(bits) // len(slots), len(self._outputs)
        return [
            self._slot_figures(slots[i], bits[i * width : (i + 1) * width], found[i * count : (i + 1) * count])
            for i in range(len(slots))
        ]

    def compare_conditioned(self, area: int, number: int, rounding: Rounding) -> dict[str, Any]:
        """Returns each element's error minus what its conditioning explains. The slot's reference is fp64 afterwards.
        """
        exchange, slot = self._area(area), self._slots[number]
        slot.truth = []
        slot.truth = self._reference.results(FLOAT64, slot.arguments)
        outputs = self._outputs_of(exchange, number)
        allowed, explained = allowances(
            rounding,
            self._plan.arguments,
            slot.arguments,
            slot.truth,
            [own for own, _, _ in outputs],
            lambda changed: self._reference.results(FLOAT64, changed),
        )
        natives = slot.near(len(self._outputs))
        parts = [
            (own, truth, dtype, near, allowance)
            for (_, truth, dtype), own, near, allowance in zip(outputs, explained, natives, allowed, strict=True)
        ]
        found = figures.read(
            [figures.passes(own, truth, dtype, near, a, typical_of(a)) for own, truth, dtype, near, a in parts]
        )
        bits = torch.stack(self._flags(exchange, number)).cpu().tolist()
        small = [
            wrong_small_values(own, truth, near, dtype, allowance, rounding.adds_up)
            for own, truth, dtype, near, allowance in parts
        ]
        return {"slot": self._slot_figures(number, bits, found), "small": small}

    def judge_nearby(self, number: int, rounding: Rounding) -> list[dict[str, Any]]:
        """Returns Torch's own error on each changed copy of a set."""
        found: list[dict[str, Any]] = []
        for _, changed in rounding.copies(self._plan.arguments, self._slots[number].arguments):
            truth = self._reference.results(FLOAT64, changed)
            native = self._reference.results(NATIVE, changed)
            found.append({"outputs": self._torchs_errors(native, truth)})
        return found

    def keep(self, area: int, slot: int) -> None:
        self._kept = [o.clone() for o in self._area(area).outputs[slot]]

    def _area(self, area: int) -> Exchange:
        if area not in self._areas:
            raise ServerError(f"there is no area {area}")
        return self._areas[area]

    def _outputs_of(
        self, exchange: Exchange, number: int
    ) -> list[tuple[torch.Tensor, torch.Tensor, torch.dtype]]:
        dtypes = [DTYPES[spec["dtype"]] for spec in self._outputs]
        return list(zip(exchange.outputs[number], self._slots[number].truth, dtypes, strict=True))

    def _passes(self, exchange: Exchange, number: int) -> list[list[torch.Tensor]]:
        natives = self._slots[number].near(len(self._outputs))
        return [
            figures.passes(own, truth, dtype, native)
            for (own, truth, dtype), native in zip(self._outputs_of(exchange, number), natives, strict=True)
        ]

    def _flags(self, exchange: Exchange, number: int) -> list[torch.Tensor]:
        """Returns bools on the device: margins broken, by output; arguments changed; same as kept; official rule."""
        slot = self._slots[number]
        own = exchange.outputs[number]
        changed = [
            (_bits(a) != _bits(b)).any()
            for a, b in zip(exchange.arguments[number], slot.arguments, strict=True)
        ]
        flags = [*exchange.outside(number), *changed]
        no = torch.zeros((), dtype=torch.bool, device=self._name)
        if slot.native is None:  # a timed set
            return [*flags, no, no]
        same = [(_bits(a) == _bits(b)).all() for a, b in zip(own, self._kept, strict=False)]
        fine = [
            figures.official(a, b, DTYPES[spec["dtype"]])
            for a, b, spec in zip(own, slot.native, self._outputs, strict=True)
        ]
        return [*flags, torch.stack(same).all() if same else no, torch.stack(fine).all()]

    def _slot_figures(
        self, number: int, bits: list[bool], outputs: list[dict[str, Any]]
    ) -> dict[str, Any]:
        count = len(self._outputs)
        outside = [o["name"] for o, bit in zip(self._outputs, bits[:count], strict=True) if bit]
        written = [a.name for a, bit in zip(self._plan.arguments, bits[count:-2], strict=True) if bit]
        return {
            "outside": outside[0] if outside else "",
            "written": written[0] if written else "",
            "as_kept": bits[-2],
            "official": bits[-1],
            "outputs": outputs,
        }

    def _synchronize(self) -> None:
        assert self._device is not None
        self._device.synchronize()


def _bits(tensor: torch.Tensor) -> torch.Tensor:
    """Compares as bits, because NaN is not equal to itself."""
    width = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()]
    return tensor.contiguous().view(width)


def _poison(output: torch.Tensor, seed: int) -> None:
    """Fills with random values of ordinary size and not with random bits, because poison must look plausible."""
    generator = torch.Generator(device=output.device).manual_seed(seed)
    flat = output.view(-1)
    if output.is_floating_point():
        flat.uniform_(-2.0, 2.0, generator=generator)
    elif output.dtype == torch.bool:
        flat.view(torch.uint8).random_(0, 2, generator=generator)
    else:
        flat.random_(0, 100, generator=generator)


def _about_truth(native: torch.Tensor, truth: torch.Tensor) -> dict[str, Any]:
    if not truth.is_floating_point() or truth.numel() == 0:
        return {"finite": True, "finite_somewhere": True, "peak_over_rms": 1.0, "exact": False}
    if fused := figures.fused_passes(native, truth):
        blocks = [fused.facts(native, truth, _EXACT_INTEGERS)]
    else:
        parts = zip(native.reshape(-1).split(figures.BLOCK), truth.reshape(-1).split(figures.BLOCK), strict=True)
        blocks = [_block_of_truth(n, t) for n, t in parts]
    found = torch.stack(blocks).cpu()
    finite, exact = found[:, 0].min(), found[:, 1].min()
    rms = float((found[:, 2].sum() / truth.numel()).sqrt())
    return {
        "finite": bool(finite),
        "finite_somewhere": bool(found[:, 4].max()),
        "peak_over_rms": float(found[:, 3].max()) / rms if rms > 0 else 1.0,
        "exact": bool(exact),
    }


def _block_of_truth(native: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Computes in fp64: whether all values are finite, whether all are the same whole numbers, the sum of squares, the
    peak, and whether the reference is finite anywhere."""
    finite = torch.isfinite(truth).all() & torch.isfinite(native).all()
    size = torch.where(torch.isfinite(truth), truth, 0.0).double().abs()
    whole = (size <= _EXACT_INTEGERS) & (truth == truth.round()) & (native.double() == truth)
    somewhere = torch.isfinite(truth).any().double()
    return torch.stack([finite.double(), whole.all().double(), size.square().sum(), size.max(), somewhere])
