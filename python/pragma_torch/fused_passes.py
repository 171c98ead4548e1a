"""The passes of figures.py over large tensors on a GPU, each as one Triton kernel that reads its tensors once.

In Torch's own operators a pass moves some 500 bytes for each element, and a kernel that moves eight is judged by
dozens of passes. What the figures mean is decided in figures.py; python/tests/test_figures.py compares the two.
"""

# The parameters of Triton's kernels have no types that Python knows.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"
from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

_BLOCK = 512
_PROGRAMS = 2048
_INFINITY = tl.constexpr(math.inf)

_SMALLEST_DOUBLE = 2.2250738585072014e-308
_LEAST = 1 << 22  # elements; smaller tensors pass sooner than a kernel is compiled
_COLUMNS, _FACTS = 11, 6  # numbers that each program of a kernel writes


@triton.jit
def _figures_kernel(actual, truth, rms, limits, found, count, BLOCK: tl.constexpr):
    """`rms` is of the truth. `limits` are the largest value, the smallest error, and the size from which relative errors
    mean something. Triton would round numbers to fp32, so they are in memory."""
    own_rms = tl.load(rms)
    largest, smallest, relevant = tl.load(limits), tl.load(limits + 1), tl.load(limits + 2)
    squared_error = tl.zeros((BLOCK,), tl.float64)
    squared = tl.zeros((BLOCK,), tl.float64)
    odd_count = tl.zeros((BLOCK,), tl.float64)
    truth_count = tl.zeros((BLOCK,), tl.float64)
    max_abs = tl.zeros((BLOCK,), tl.float64)
    max_rel = tl.zeros((BLOCK,), tl.float64)
    max_any_rel = tl.zeros((BLOCK,), tl.float64)
    max_scaled = tl.zeros((BLOCK,), tl.float64)
    worst = tl.zeros((BLOCK,), tl.float64)
    first = tl.full((BLOCK,), _INFINITY, tl.float64)
    first_odd = tl.full((BLOCK,), _INFINITY, tl.float64)
    start = tl.program_id(0).to(tl.int64) * BLOCK
    while start < count:
        at = start + tl.arange(0, BLOCK)
        inside = at < count
        y = tl.load(actual + at, mask=inside, other=0.0).to(tl.float64)
        r = tl.load(truth + at, mask=inside, other=0.0).to(tl.float64)
        y_finite = y - y == 0.0
        kept = y_finite & (tl.abs(r) <= largest)
        size = tl.where(kept, tl.abs(r), 0.0)
        error = tl.where(kept, tl.abs(y - r), 0.0)
        error = tl.where(error > smallest, error, 0.0)
        relative = error / tl.where(size > 0.0, size, 1.0)
        scaled = error / (size + own_rms)
        squared_error += error * error
        squared += size * size
        max_abs = tl.maximum(max_abs, error)
        max_rel = tl.maximum(max_rel, tl.where(size > own_rms * 1e-3, relative, 0.0))
        max_any_rel = tl.maximum(max_any_rel, tl.where(size > relevant, relative, 0.0))
        place = at.to(tl.float64)
        worst = tl.where(scaled > max_scaled, place, worst)
        max_scaled = tl.maximum(max_scaled, scaled)
        held = tl.where(tl.abs(r) > largest, tl.where(r > 0.0, _INFINITY, -_INFINITY), r)
        held_finite = held - held == 0.0
        same = (y == held) | ((y != y) & (held != held))
        odd = (kept == 0) & (same == 0) & ((y_finite & held_finite) == 0)
        of_truth = odd & (held_finite == 0)
        odd = odd & held_finite
        odd_count += odd.to(tl.float64)
        truth_count += of_truth.to(tl.float64)
        first = tl.minimum(first, tl.where(odd, place, _INFINITY))
        first_odd = tl.minimum(first_odd, tl.where(of_truth, place, _INFINITY))
        start += tl.num_programs(0).to(tl.int64) * BLOCK
    most = tl.max(max_scaled, 0)
    row = found + tl.program_id(0) * 11
    tl.store(row, tl.sum(squared_error, 0))
    tl.store(row + 1, tl.sum(squared, 0))
    tl.store(row + 2, tl.sum(odd_count, 0))
    tl.store(row + 3, tl.sum(truth_count, 0))
    tl.store(row + 4, tl.max(max_abs, 0))
    tl.store(row + 5, tl.max(max_rel, 0))
    tl.store(row + 6, tl.max(max_any_rel, 0))
    tl.store(row + 7, most)
    tl.store(row + 8, tl.min(tl.where(max_scaled == most, worst, _INFINITY), 0))
    tl.store(row + 9, tl.min(first, 0))
    tl.store(row + 10, tl.min(first_odd, 0))


@triton.jit
def _facts_kernel(native, truth, found, count, EXACT: tl.constexpr, BLOCK: tl.constexpr):
    """`EXACT` is the largest whole number that counts as exact."""
    squared = tl.zeros((BLOCK,), tl.float64)
    finite_count = tl.zeros((BLOCK,), tl.float64)
    peak = tl.zeros((BLOCK,), tl.float64)
    all_finite = tl.full((BLOCK,), 1.0, tl.float64)
    all_whole = tl.full((BLOCK,), 1.0, tl.float64)
    somewhere = tl.zeros((BLOCK,), tl.float64)
    start = tl.program_id(0).to(tl.int64) * BLOCK
    while start < count:
        at = start + tl.arange(0, BLOCK)
        inside = at < count
        n = tl.load(native + at, mask=inside, other=0.0).to(tl.float64)
        r = tl.load(truth + at, mask=inside, other=0.0).to(tl.float64)
        r_finite = r - r == 0.0
        size = tl.where(r_finite, tl.abs(r), 0.0)
        squared += size * size
        finite_count += (r_finite & inside).to(tl.float64)
        peak = tl.maximum(peak, size)
        both = r_finite & (n - n == 0.0)
        all_finite = tl.minimum(all_finite, both.to(tl.float64))
        whole = both & (size <= EXACT) & (tl.floor(size) == size) & (n == r)
        all_whole = tl.minimum(all_whole, whole.to(tl.float64))
        somewhere = tl.maximum(somewhere, (r_finite & inside).to(tl.float64))
        start += tl.num_programs(0).to(tl.int64) * BLOCK
    row = found + tl.program_id(0) * 6
    tl.store(row, tl.sum(squared, 0))
    tl.store(row + 1, tl.sum(finite_count, 0))
    tl.store(row + 2, tl.max(peak, 0))
    tl.store(row + 3, tl.min(all_finite, 0))
    tl.store(row + 4, tl.min(all_whole, 0))
    tl.store(row + 5, tl.max(somewhere, 0))


@triton.jit
def _close_kernel(actual, native, bound, found, count, BLOCK: tl.constexpr):
    limit = tl.load(bound)
    close = tl.full((BLOCK,), 1.0, tl.float64)
    start = tl.program_id(0).to(tl.int64) * BLOCK
    while start < count:
        at = start + tl.arange(0, BLOCK)
        inside = at < count
        a = tl.load(actual + at, mask=inside, other=0.0).to(tl.float64)
        b = tl.load(native + at, mask=inside, other=0.0).to(tl.float64)
        fine = (tl.abs(a - b) <= limit + limit * tl.abs(b)) | ((a == b) & (tl.abs(a) == _INFINITY))
        close = tl.minimum(close, fine.to(tl.float64))
        start += tl.num_programs(0).to(tl.int64) * BLOCK
    tl.store(found + tl.program_id(0), tl.min(close, 0))


def fit(*tensors: torch.Tensor) -> bool:
    """Returns true if these kernels take the tensors, which are of one shape, and are worth compiling."""
    first = tensors[0]
    large = first.device.type == "cuda" and first.numel() >= _LEAST
    return large and all(t.is_floating_point() and t.is_contiguous() for t in tensors)


def figures(actual: torch.Tensor, truth: torch.Tensor, limits: list[float]) -> torch.Tensor:
    """Returns the figures of Pass._block for a whole tensor; `limits` as in _figures_kernel."""
    y, r = actual.reshape(-1), truth.reshape(-1)
    known = torch.tensor(limits, dtype=torch.float64, device=y.device)
    found = _launch(_figures_kernel, y, [y, r, rms(truth), known], _COLUMNS)
    squared_error, squared, odd, of_truth = found[:, 0:4].sum(0)
    max_abs, max_rel, max_any_rel, max_scaled = found[:, 4:8].amax(0)
    worst = found[found[:, 7].argmax(), 8]
    first, first_odd = torch.where(torch.isinf(found[:, 9:11].amin(0)), 0.0, found[:, 9:11].amin(0))
    places = torch.stack([worst, first, first_odd]).long()
    (y_worst, y_first, y_odd), (r_worst, r_first, r_odd) = y[places].double(), r[places].double()
    return torch.stack([
        squared_error, squared, max_abs, max_rel, max_any_rel, max_scaled, worst, odd, first,
        y_worst, r_worst, y_first, r_first, of_truth, first_odd, y_odd, r_odd,
    ])  # fmt: skip


def rms(truth: torch.Tensor) -> torch.Tensor:
    """Returns the root mean square of all finite elements, as a tensor of one float64."""
    squared, count = _facts(truth, truth, 0.0)[:, 0:2].sum(0)
    return torch.sqrt(squared / count.clamp(min=1)).clamp(min=_SMALLEST_DOUBLE)


def facts(native: torch.Tensor, truth: torch.Tensor, exact: float) -> torch.Tensor:
    """Returns what referee._block_of_truth does, for a whole tensor."""
    found = _facts(native, truth, exact)
    return torch.stack(
        [found[:, 3].amin(), found[:, 4].amin(), found[:, 0].sum(), found[:, 2].amax(), found[:, 5].amax()]
    )


def close(actual: torch.Tensor, native: torch.Tensor, bound: float) -> torch.Tensor:
    """Returns a bool: everywhere, the difference is at most `bound`, absolute and relative together."""
    y, limit = actual.reshape(-1), torch.tensor([bound], dtype=torch.float64, device=actual.device)
    return _launch(_close_kernel, y, [y, native.reshape(-1), limit], 1).amin() > 0


def _facts(native: torch.Tensor, truth: torch.Tensor, exact: float) -> torch.Tensor:
    y = native.reshape(-1)
    return _launch(_facts_kernel, y, [y, truth.reshape(-1)], _FACTS, EXACT=exact)


def _launch(kernel: Any, like: torch.Tensor, given: list[torch.Tensor], columns: int, **constants: float) -> torch.Tensor:
    """Returns what the programs wrote, a row for each."""
    programs = min(_PROGRAMS, triton.cdiv(like.numel(), _BLOCK))
    found = torch.empty(programs, columns, dtype=torch.float64, device=like.device)
    kernel[(programs,)](*given, found, like.numel(), **constants, BLOCK=_BLOCK)
    return found
