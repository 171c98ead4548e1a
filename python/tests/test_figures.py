"""figures: the rules of src/values/block_errors.cc, on tensors."""

from __future__ import annotations

import importlib.util
import math
import os
import pathlib
import subprocess
import sys

import pytest
import torch

from pragma_torch import batteries, draws, figures, referee
from pragma_torch.plan import Argument
from pragma_torch.structure import Structure


def full(y, r, dtype=torch.float32):
    return figures.read([figures.passes(y, r, dtype)])[0]


def test_the_worst_element_and_its_scale_are_found():
    r = torch.tensor([3.0, -4.0, 0.0, 5.0], dtype=torch.float64)
    y = r.float().clone()
    y[1] = -4.5
    found = full(y, r)
    rms = math.sqrt((9 + 16 + 25) / 4)
    assert found["worst"] == 1 and found["mismatched"] == 0
    assert math.isclose(found["max_scaled"], 0.5 / (4 + rms))
    assert math.isclose(found["max_abs"], 0.5) and math.isclose(found["max_rel"], 0.125)
    assert found["sum_squared"] == 50 and found["sum_squared_error"] == 0.25
    assert found["worst_values"] == "got -4.5, expected -4"


def test_what_is_finite_on_one_side_only_is_a_mismatch():
    r = torch.tensor([1.0, math.inf, math.nan, 2.0], dtype=torch.float64)
    assert full(torch.tensor([1.0, math.inf, math.nan, 2.0]), r)["mismatched"] == 0
    found = full(torch.tensor([1.0, math.inf, 0.0, math.nan]), r)
    assert (found["mismatched"], found["first_mismatch"]) == (1, 3)
    assert (found["odd_truth"], found["first_odd"]) == (1, 2)
    assert (found["first_values"], found["odd_values"]) == ("got nan, expected 2", "got 0, expected nan")
    assert full(torch.tensor([1.0, -math.inf, math.nan, 2.0]), r)["odd_truth"] == 1


def test_a_truth_beyond_the_outputs_type_counts_as_infinite():
    r = torch.tensor([1e39, -1e39, 1.0], dtype=torch.float64)
    assert full(torch.tensor([math.inf, -math.inf, 1.0]), r)["odd_truth"] == 0
    assert full(torch.tensor([3.4e38, -math.inf, 1.0]), r)["odd_truth"] == 1


def test_flushed_denormals_are_no_error_but_all_zeros_must_be_zeros():
    assert full(torch.zeros(2), torch.tensor([1e-39, -1e-39], dtype=torch.float64))["max_scaled"] == 0
    assert full(torch.tensor([1e-3, 0.0]), torch.zeros(2, dtype=torch.float64))["max_scaled"] > 1e300


def test_the_quick_figures_of_timed_outputs_are_those_of_the_full_pass():
    torch.manual_seed(0)
    r = torch.randn(5000)
    y = r * (1 + 1e-5 * torch.randn(5000))
    y[17] += 0.01
    quick = figures.read_timed([(y, r, torch.float32)])[0]
    slow = full(y, r)
    assert quick["worst"] == slow["worst"] == 17 and quick["worst_values"] == slow["worst_values"]
    for name in ("max_abs", "max_rel", "max_scaled", "sum_squared", "sum_squared_error"):
        assert math.isclose(quick[name], slow[name], rel_tol=1e-5), name


def test_timed_outputs_that_are_not_finite_are_looked_at_in_full():
    r = torch.ones(10)
    bad = r.clone()
    bad[4] = math.nan
    found = figures.read_timed([(r, r, torch.float32), (bad, r, torch.float32), (r * 0, r * 0, torch.float32)])
    assert [f["mismatched"] for f in found] == [0, 1, 0] and found[1]["first_mismatch"] == 4
    assert found[2]["max_scaled"] == 0


def test_integers_are_equal_to_the_truth_or_to_torchs_own_result():
    y, r, native = torch.tensor([1, 2, 3]), torch.tensor([1, 9, 9]), torch.tensor([1, 2, 4])
    found = figures.read([figures.passes(y, r, torch.int64, native)])[0]
    assert (found["mismatched"], found["first_mismatch"]) == (1, 2)


def about(native, truth):
    return referee._about_truth(native, truth)


def test_what_is_said_of_a_truth_does_not_depend_on_blocks(monkeypatch):
    whole = torch.tensor([3.0, -4.0, 0.0, 5.0, 1.0], dtype=torch.float64)
    odd = torch.tensor([0.5, -4.0, 0.0, 2.0, 1.0], dtype=torch.float64)
    infinite = torch.tensor([0.5, -4.0, 0.0, 2.0, math.inf], dtype=torch.float64)
    before = [about(t.float(), t) for t in (whole, odd, infinite)]
    monkeypatch.setattr(figures, "BLOCK", 2)
    assert [about(t.float(), t) for t in (whole, odd, infinite)] == before
    assert [b["exact"] for b in before] == [True, False, False]
    assert [b["finite"] for b in before] == [True, True, False]
    assert math.isclose(before[0]["peak_over_rms"], 5 / math.sqrt(51 / 5))


def test_a_battery_made_in_blocks_fills_all_of_a_tensor(monkeypatch):
    monkeypatch.setattr(draws, "BLOCK", 8)
    tensor = torch.full((5, 7), math.nan)
    argument = Argument("x", "args[0]", "input", "float32", [5, 7])
    batteries.Battery("integers", 0.0, 3.0, 11, "cpu").apply([argument], [Structure()], [tensor])
    assert torch.equal(tensor, tensor.round()) and float(tensor.abs().max()) <= 3
    assert len(set(tensor.view(-1).tolist())) > 3
    assert not torch.equal(tensor.view(-1)[:8], tensor.view(-1)[8:16])


# Every kind of element in one tensor, by the type of the output; both ways must give the same figures.
FUSED = """
import math, sys
import torch
from pragma_torch import figures, fused_passes, referee
from pragma_triton import interpreter

interpreter.complete()
torch.manual_seed(0)


def pair(dtype, odd):
    truth = torch.randn(20_001, dtype=torch.float64)
    own = (truth + 1e-3 * torch.randn(20_001)).to(dtype)
    for at, (given, right) in enumerate(odd, 9):
        own[at], truth[at] = given, right
    return own, truth


inf, nan = math.inf, math.nan
kinds = [[], [(inf, inf), (nan, 1.0), (0.0, nan), (0.0, -inf), (nan, nan)], [(inf, 1e300), (1.0, -1e300)], [(0.0, 1e-39)]]
pairs = [(dtype, *pair(dtype, odd)) for dtype in (torch.float32, torch.bfloat16, torch.float64) for odd in kinds]
whole = torch.randn(5000).round()
pairs += [(torch.float32, whole, whole.double()), (torch.float32, torch.zeros(600), torch.zeros(600, dtype=torch.float64))]
for dtype, own, truth in pairs:
    limits = [figures.largest(dtype), figures.smallest(dtype), figures.smallest(dtype) * figures.WELL_ABOVE_SMALLEST]
    plain = figures.read([figures.passes(own, truth, dtype)])[0]
    fused = figures.read([[fused_passes.figures(own, truth, limits)]])[0]
    for name, value in plain.items():
        same = value == fused[name] or isinstance(value, float) and math.isclose(value, fused[name], rel_tol=1e-12)
        assert same, (dtype, name, value, fused[name])
    assert torch.allclose(referee._block_of_truth(own, truth), fused_passes.facts(own, truth, 2.0**24), rtol=1e-12)
    bound = 1e-2 if dtype == torch.bfloat16 else 1e-4
    assert figures.official(own, truth, dtype) == fused_passes.close(own, truth, bound)
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch")
def test_single_kernels_give_the_figures_of_torchs_operators(tmp_path):
    python = str(pathlib.Path(figures.__file__).parents[1])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": python}
    done = subprocess.run([sys.executable, "-c", FUSED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
