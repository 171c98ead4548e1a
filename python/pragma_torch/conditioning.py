"""Conditioning: how far each element of an fp64 reference moves if the inputs are changed by their rounding errors, and
what that says about an output. src/values/conditioning.h has the rules and their constants."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import torch

from pragma_torch import figures
from pragma_torch.plan import Argument

_TORCH_IS_NEAR = 0.1  # share of a large relative error
_LARGE, _LARGE_16_BIT = 0.02, 0.25
_TYPICAL_FACTOR = 10.0  # the factor that is allowed for honest errors everywhere
_SAMPLE = 65536  # elements from which a median is taken

_Tensors = list[torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Rounding:
    """How the inputs of a set are changed to simulate rounding."""

    size: float  # relative error of each floating-point argument
    seed: int
    rounds: int  # number of changed copies
    factor: float  # factor on their largest movement
    further: int  # number of additional changed copies, which have their own factor
    further_factor: float
    flush: bool  # adds one copy with denormals set to zero, whose movement counts once
    adds_up: bool  # elements are sums of several terms
    ties: bool  # an integer may be any that it is for a changed copy

    @staticmethod
    def read(message: dict[str, Any]) -> Rounding:
        return Rounding(**{field.name: message[field.name] for field in dataclasses.fields(Rounding)})

    def copies(self, plan: list[Argument], arguments: _Tensors) -> Iterator[tuple[float, _Tensors]]:
        """Yields each copy with the factor of its movement, one at a time, because they may not all fit in memory."""
        generator = torch.Generator(device=arguments[0].device).manual_seed(self.seed) if arguments else None
        for factor in [self.factor] * self.rounds + [self.further_factor] * self.further:
            changed = [t.clone() for t in arguments]
            for argument, tensor in zip(plan, changed, strict=True):
                if tensor.is_floating_point() and argument.role != "constant":
                    self._change(tensor, generator)
            yield factor, changed
        if self.flush and any(_has_denormals(t) for t in arguments):
            yield 1.0, [_flushed(t) for t in arguments]

    def _change(self, tensor: torch.Tensor, generator: torch.Generator | None) -> None:
        for block in tensor.view(-1).split(figures.BLOCK):
            noise = torch.randn(block.shape, dtype=torch.float64, device=block.device, generator=generator)
            block.copy_(block.double() * (1 + self.size * noise))


def allowances(
    rounding: Rounding,
    plan: list[Argument],
    arguments: _Tensors,
    truth: _Tensors,
    actual: _Tensors,
    reference: Callable[[_Tensors], _Tensors],
) -> tuple[list[torch.Tensor | None], _Tensors]:
    """Returns for each output how far each element may be off because of its inputs, or None for an integer output;
    and the outputs, in which integers that a changed copy explains (rounding.ties) are replaced by the truth."""
    found: list[torch.Tensor | None] = [torch.zeros_like(t) if t.is_floating_point() else None for t in truth]
    explained = list(actual)
    for factor, changed in rounding.copies(plan, arguments):
        for i, (moved, own) in enumerate(zip(reference(changed), truth, strict=True)):
            allowed = found[i]
            if allowed is not None:
                _raise_to_movement(allowed, moved, own, factor)
            elif rounding.ties:
                explained[i] = torch.where(actual[i] == moved, own, explained[i])
    return found, explained


def _raise_to_movement(allowed: torch.Tensor, moved: torch.Tensor, own: torch.Tensor, factor: float) -> None:
    """Works in blocks, because several outputs in fp64 are in memory already."""
    flat = [tensor.view(-1).split(figures.BLOCK) for tensor in (allowed, moved, own)]
    for most, there, here in zip(*flat, strict=True):
        by = (there - here).abs_().nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
        torch.maximum(most, by.mul_(factor), out=most)


def typical_of(allowance: torch.Tensor | None) -> torch.Tensor | None:
    """Returns an output's typical allowance. Each element may be off as much, because algorithms that mix neighbours
    carry an error of ordinary size into each element."""
    if allowance is None or allowance.numel() == 0:
        return None
    return _sampled(allowance).median()


def _sampled(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.reshape(-1)
    return flat[:: max(flat.numel() // _SAMPLE, 1)]


def wrong_small_values(
    actual: torch.Tensor,
    truth: torch.Tensor,
    native: torch.Tensor | None,
    dtype: torch.dtype,
    allowance: torch.Tensor | None,
    adds_up: bool,
) -> dict[str, Any]:
    """Finds elements whose error is a large part of their value, where Torch is accurate and the reference does not
    move. `adds_up` means that the elements are sums, which cross zero if the reference has both signs."""
    if allowance is None or native is None or truth.numel() == 0 or (adds_up and not _of_one_sign(truth)):
        return {"wrong": 0, "first": 0, "values": ""}
    # Rounding between Torch's operators is not visible in copies with changed inputs.
    between = (_sampled(native).double() - _sampled(truth).double()).abs()
    typical = _TYPICAL_FACTOR * between[torch.isfinite(between) & (between > 0)].median().nan_to_num()
    result: dict[str, Any] = {"wrong": 0, "first": 0, "values": ""}
    flat = [tensor.reshape(-1).split(figures.BLOCK) for tensor in (actual, truth, native, allowance)]
    for number, (y, r, t, allowed) in enumerate(zip(*flat, strict=True)):
        wrong = _wrong_small(y.double(), r.double(), t.double(), dtype, allowed + typical)
        count = int(wrong.sum())
        if count and not result["wrong"]:
            first = int(wrong.to(torch.uint8).argmax())
            result["first"] = number * figures.BLOCK + first
            result["values"] = f"got {float(y[first]):.9g}, expected {float(r[first]):.9g}"
        result["wrong"] += count
    return result


def _wrong_small(
    y: torch.Tensor, r: torch.Tensor, t: torch.Tensor, dtype: torch.dtype, allowed: torch.Tensor
) -> torch.Tensor:
    """`y` is what was computed, `r` the reference and `t` Torch's own result."""
    large = _LARGE_16_BIT if dtype in (torch.float16, torch.bfloat16) else _LARGE
    size = r.abs()
    told = figures.smallest(dtype) * figures.WELL_ABOVE_SMALLEST
    known = (size > told) & torch.isfinite(y) & torch.isfinite(r) & (size <= figures.largest(dtype))
    known &= (t - r).abs() <= _TORCH_IS_NEAR * large * size
    return known & ((y - r).abs() > large * size + allowed)


def _of_one_sign(truth: torch.Tensor) -> bool:
    return not (bool((truth > 0).any()) and bool((truth < 0).any()))


def _has_denormals(tensor: torch.Tensor) -> bool:
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return False
    return bool(((tensor != 0) & (tensor.abs() < torch.finfo(tensor.dtype).tiny)).any())


def _flushed(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_floating_point():
        return tensor
    return torch.where(tensor.abs() < torch.finfo(tensor.dtype).tiny, torch.zeros_like(tensor), tensor)
