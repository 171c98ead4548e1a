"""figures: the rules of src/verify/block_errors.cc, on tensors."""

from __future__ import annotations

import math

import torch

from pragma_torch import figures


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
    assert (found["mismatched"], found["first_mismatch"]) == (2, 2)
    assert full(torch.tensor([1.0, -math.inf, math.nan, 2.0]), r)["mismatched"] == 1


def test_a_truth_beyond_the_outputs_type_counts_as_infinite():
    r = torch.tensor([1e39, -1e39, 1.0], dtype=torch.float64)
    assert full(torch.tensor([math.inf, -math.inf, 1.0]), r)["mismatched"] == 0
    assert full(torch.tensor([3.4e38, -math.inf, 1.0]), r)["mismatched"] == 1


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
