"""Figures: one pass over an output and its fp64 reference, on the device that holds both (core/error_pass.h).

The rules are those of src/values/comparator.cc and block_errors.cc, where the meaning of the figures is decided.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from typing import Any

import torch

BLOCK = 1 << 24  # elements at a time, which limits fp64 temporaries to 128 MiB each
_MOST_QUICK = 1 << 26  # elements of a quick pass, whose temporaries are fp32

# A reference value beyond the largest counts as infinite. An error up to the smallest counts as none.
_LARGEST = {torch.float16: 65504.0, torch.bfloat16: 3.3895313892515355e38, torch.float64: 1.7976931348623157e308}
_SMALLEST = {torch.float16: 2.0**-24, torch.float64: 2.2250738585072014e-308}
_LARGEST_FP32, _SMALLEST_FP32 = 3.4028234663852886e38, 1.1754943508222875e-38
_SMALLEST_DOUBLE = 2.2250738585072014e-308

_SUMS = ("sum_squared_error", "sum_squared")
_MAXIMA = ("max_abs", "max_rel", "max_any_rel", "max_scaled")

WELL_ABOVE_SMALLEST = 64  # relative errors of elements below this multiple of the smallest mean nothing


def largest(dtype: torch.dtype) -> float:
    return _LARGEST.get(dtype, _LARGEST_FP32)


def smallest(dtype: torch.dtype) -> float:
    return _SMALLEST.get(dtype, _SMALLEST_FP32)


def fused_passes(*tensors: torch.Tensor) -> Any:
    """Returns the module of passes as single kernels if it takes these tensors, and None otherwise."""
    module = _fused_passes() if tensors[0].device.type == "cuda" else None
    return module if module and module.fit(*tensors) else None


@functools.cache
def _fused_passes() -> Any:
    if importlib.util.find_spec("triton") is None:
        return None
    from pragma_torch import fused_passes as module

    return module


def quick_pass(actual: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Compares an fp32 output with Torch's own result, as is done for hundreds of timed outputs. It gives the same
    figures from differences in fp32, with an error in their last bit. The result is not finite if any value is not."""
    y, r = actual.reshape(-1), truth.reshape(-1)
    squared = torch.linalg.vector_norm(r, dtype=torch.float64).square()
    rms = torch.sqrt(squared / max(r.numel(), 1))
    error = (y - r).abs_()
    size = r.abs()
    squared_error = torch.linalg.vector_norm(error, dtype=torch.float64).square()
    relative = torch.where(size > rms * 1e-3, error / size, 0.0).max()
    scaled, worst = (error / size.add_(rms.float())).max(dim=0)
    zero = torch.zeros((), dtype=torch.float64, device=y.device)
    values = [
        squared_error, squared, error.max().double(), relative.double(), zero, scaled.double(),
        worst.double(), zero, zero, y[worst].double(), r[worst].double(), zero, zero,
        zero, zero, zero, zero,
    ]  # fmt: skip
    return torch.stack(values)


def is_quick(actual: torch.Tensor, truth: torch.Tensor) -> bool:
    both = actual.dtype == torch.float32 and truth.dtype == torch.float32
    return both and 0 < actual.numel() <= _MOST_QUICK and not fused_passes(actual, truth)


def is_finite(numbers: list[float]) -> bool:
    return all(map(math.isfinite, numbers))


class Pass:
    """The pass over floating-point outputs. Everything stays on the device until `read`."""

    def __init__(
        self,
        actual: torch.Tensor,
        truth: torch.Tensor,
        dtype: torch.dtype,
        allowance: torch.Tensor | None = None,
        least: torch.Tensor | None = None,
    ) -> None:
        """`dtype` is the declared type of the output, and `truth` may be wider. `allowance`, or `least` where that is
        more, is subtracted from each error."""
        self._allowance = allowance.reshape(-1) if allowance is not None else None
        self._least = least
        self._actual = actual.reshape(-1)
        self._truth = truth.reshape(-1)
        self._largest = largest(dtype)
        self._smallest = smallest(dtype)
        if allowance is None and (fused := fused_passes(actual, truth)):
            limits = [self._largest, self._smallest, self._smallest * WELL_ABOVE_SMALLEST]
            self.figures = [fused.figures(actual, truth, limits)]
            return
        count = self._truth.numel()
        rms = _rms(self._truth)
        parts = [self._block(i, min(i + BLOCK, count), rms) for i in range(0, count, BLOCK)]
        self.figures = parts

    def _block(self, begin: int, end: int, rms: torch.Tensor) -> torch.Tensor:
        y = self._actual[begin:end].double()
        r = self._truth[begin:end].double()
        size = r.abs()
        kept = torch.isfinite(y) & torch.isfinite(r) & (size <= self._largest)
        size = torch.where(kept, size, 0.0)
        error = torch.where(kept, (y - r).abs(), 0.0)
        if self._allowance is not None:
            allowed = self._allowance[begin:end]
            if self._least is not None:
                allowed = torch.maximum(allowed, self._least)
            error = (error - allowed).clamp_(min=0.0)
        error = torch.where(error > self._smallest, error, 0.0)
        scaled = error / (size + rms)
        relative = torch.where(size > rms * 1e-3, error / size, 0.0)
        any_relative = torch.where(size > self._smallest * WELL_ABOVE_SMALLEST, error / size, 0.0)
        held = torch.where(r.abs() > self._largest, torch.copysign(torch.full_like(r, math.inf), r), r)
        odd = ~kept & ~((y == held) | (torch.isnan(y) & torch.isnan(held)))
        odd &= ~(torch.isfinite(y) & torch.isfinite(held))
        of_truth = odd & ~torch.isfinite(held)
        odd &= ~of_truth
        worst = scaled.argmax()
        first = odd.to(torch.uint8).argmax()
        first_odd = of_truth.to(torch.uint8).argmax()
        values = [
            (error * error).sum(), (size * size).sum(), error.max(), relative.max(), any_relative.max(), scaled[worst],
            worst.double() + begin, odd.sum().double(), first.double() + begin,
            y[worst], r[worst], y[first], r[first],
            of_truth.sum().double(), first_odd.double() + begin, y[first_odd], r[first_odd],
        ]  # fmt: skip
        return torch.stack(values)


def _rms(truth: torch.Tensor) -> torch.Tensor:
    wide = torch.zeros((), dtype=torch.float64, device=truth.device)
    finite = torch.zeros((), dtype=torch.float64, device=truth.device)
    for begin in range(0, truth.numel(), BLOCK):
        r = truth[begin : begin + BLOCK].double()
        mask = torch.isfinite(r)
        wide += torch.where(mask, r * r, 0.0).sum()
        finite += mask.sum()
    return torch.sqrt(wide / finite.clamp(min=1)).clamp(min=_SMALLEST_DOUBLE)


def exact_pass(actual: torch.Tensor, truth: torch.Tensor, native: torch.Tensor | None) -> list[torch.Tensor]:
    """Compares integers and booleans, which must equal the reference or Torch's own result (near ties)."""
    y, r = actual.reshape(-1), truth.reshape(-1)
    if y.numel() == 0:
        return []
    wrong = y != r
    if native is not None:
        wrong &= y != native.reshape(-1)
    first = wrong.to(torch.uint8).argmax()
    zero = torch.zeros((), dtype=torch.float64, device=y.device)
    values = [zero] * 7 + [wrong.sum().double(), first.double(), zero, zero, y[first].double(), r[first].double()]
    return [torch.stack(values + [zero] * 4)]


def passes(
    actual: torch.Tensor,
    truth: torch.Tensor,
    dtype: torch.dtype,
    native: torch.Tensor | None = None,
    allowance: torch.Tensor | None = None,
    least: torch.Tensor | None = None,
) -> list[torch.Tensor]:
    """Returns the parts of one output's pass, from which `read` makes figures."""
    if not dtype.is_floating_point:
        return exact_pass(actual, truth, native)
    return Pass(actual, truth, dtype, allowance, least).figures


def read(parts: list[list[torch.Tensor]]) -> list[dict[str, Any]]:
    """Returns the figures of several outputs, with a single wait for the device."""
    return [_combine(numbers) for numbers in _numbers(parts)]


def read_timed(outputs: list[tuple[torch.Tensor, torch.Tensor, torch.dtype]]) -> list[dict[str, Any]]:
    """Takes (actual, truth, declared dtype) for each output. It uses the quick pass, and then the full one where that
    found NaN or infinity."""
    found = _numbers(
        [[quick_pass(y, r)] if is_quick(y, r) else passes(y, r, dtype) for y, r, dtype in outputs]
    )
    for i, (y, r, dtype) in enumerate(outputs):
        if is_quick(y, r) and not is_finite(found[i][0]):
            found[i] = _numbers([passes(y, r, dtype)])[0]
    return [_combine(numbers) for numbers in found]


def _numbers(parts: list[list[torch.Tensor]]) -> list[list[list[float]]]:
    flat = [part for output in parts for part in output]
    numbers = torch.stack(flat).cpu().tolist() if flat else []
    result, at = [], 0
    for output in parts:
        result.append(numbers[at : at + len(output)])
        at += len(output)
    return result


def _combine(blocks: list[list[float]]) -> dict[str, Any]:
    figures: dict[str, Any] = dict.fromkeys((*_SUMS, *_MAXIMA), 0.0)
    figures |= {"worst": 0, "mismatched": 0, "first_mismatch": 0, "worst_values": "", "first_values": ""}
    figures |= {"odd_truth": 0, "first_odd": 0, "odd_values": ""}
    for block in blocks:
        squared_error, squared, max_abs, max_rel, max_any_rel, scaled, worst, odd, first, *values = block
        figures["sum_squared_error"] += squared_error
        figures["sum_squared"] += squared
        figures["max_abs"] = max(figures["max_abs"], max_abs)
        figures["max_rel"] = max(figures["max_rel"], max_rel)
        figures["max_any_rel"] = max(figures["max_any_rel"], max_any_rel)
        if scaled > figures["max_scaled"] or not figures["worst_values"]:
            figures["max_scaled"] = max(scaled, figures["max_scaled"])
            figures["worst"] = int(worst)
            figures["worst_values"] = f"got {values[0]:.9g}, expected {values[1]:.9g}"
        if odd > 0 and figures["mismatched"] == 0:
            figures["first_mismatch"] = int(first)
            figures["first_values"] = f"got {values[2]:.9g}, expected {values[3]:.9g}"
        figures["mismatched"] += int(odd)
        if values[4] > 0 and figures["odd_truth"] == 0:
            figures["first_odd"] = int(values[5])
            figures["odd_values"] = f"got {values[6]:.9g}, expected {values[7]:.9g}"
        figures["odd_truth"] += int(values[4])
    for name in (*_SUMS, *_MAXIMA):  # JSON has no infinity, and the largest number fails every tolerance
        figures[name] = min(figures[name], 1.7e308) if figures[name] == figures[name] else 1.7e308
    return figures


def official(actual: torch.Tensor, native: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Applies KernelBench's rule. The result is a tensor of one bool, which is never true for NaN."""
    bound = 1e-2 if dtype in (torch.float16, torch.bfloat16) else 1e-4
    if fused := fused_passes(actual, native):
        return fused.close(actual, native, bound)
    fine = torch.ones((), dtype=torch.bool, device=actual.device)
    y, t = actual.reshape(-1), native.reshape(-1)
    for begin in range(0, y.numel(), BLOCK):
        a = y[begin : begin + BLOCK].double()
        b = t[begin : begin + BLOCK].double()
        close = ((a - b).abs() <= bound + bound * b.abs()) | (torch.isinf(a) & (a == b))
        fine &= close.all()
    return fine
