"""What rounding of the inputs moves, element by element."""

from __future__ import annotations

import torch

from pragma_torch import figures
from pragma_torch.conditioning import Rounding, allowances, typical_of, wrong_small_values
from pragma_torch.plan import Argument


def rounding(**given) -> Rounding:
    usual = {"size": 1e-6, "seed": 1, "rounds": 3, "factor": 12.0, "flush": False, "adds_up": True, "ties": False}
    return Rounding(**usual | {"further": 0, "further_factor": 2.0} | given)


def argument(tensor: torch.Tensor) -> Argument:
    return Argument("x", "x", "input", "float32", list(tensor.shape))


def allowed(x: torch.Tensor, function, **given) -> torch.Tensor:
    truth = [function(x)]
    found, _ = allowances(rounding(**given), [argument(x)], [x], truth, truth, lambda changed: [function(changed[0])])
    assert found[0] is not None
    return found[0]


def test_an_element_is_allowed_what_it_moves_and_no_other_is():
    x = torch.tensor([1.0, 1.0, 1e6])
    moved = allowed(x, lambda t: t.double() - t.double().clone().fill_(1.0) * torch.tensor([0.0, 1.0, 0.0]))
    assert moved[0] < 1e-4 and moved[1] < 1e-4 < moved[2]


def test_further_copies_find_jumps_that_three_copies_miss():
    # The larger value of each pair is larger by less than the effect of rounding.
    pairs = torch.stack([torch.ones(400), torch.ones(400) * (1 + 8e-7)])

    def larger(x: torch.Tensor) -> torch.Tensor:
        return (x[0] < x[1]).double()

    assert (allowed(pairs, larger) == 0).sum() > 40
    assert (allowed(pairs, larger, further=24) >= 1).all()


def test_further_copies_widen_nothing_where_the_truth_is_smooth():
    x = torch.ones(1000)
    few, many = (allowed(x, lambda t: 3 * t.double(), further=further) for further in (0, 24))
    assert many.mean() < 1.1 * few.mean()


def test_zeros_for_denormals_count_once_where_they_are_asked_for():
    x = torch.tensor([1e-39, 1.0])
    assert allowed(x, lambda t: t.double(), flush=True)[0] >= 0.99e-39
    assert allowed(x, lambda t: t.double(), flush=False)[0] < 1e-42


def test_what_is_not_finite_allows_nothing():
    x = torch.tensor([1e-39, 4.0])
    assert torch.isfinite(allowed(x, lambda t: torch.log(t.double()), flush=True)).all()


def test_an_integer_may_be_one_of_equal_elements_places_where_the_operator_does_not_say_which():
    x = torch.tensor([[1.0, 4.0, 4.0, 2.0]] * 50)

    def place(t: torch.Tensor) -> torch.Tensor:
        return t.double().argmax(1)

    def left(actual: int, **given) -> int:
        truth, outputs = [place(x)], [torch.full((50,), actual)]
        _, explained = allowances(
            rounding(further=24, **given), [argument(x)], [x], truth, outputs, lambda changed: [place(changed[0])]
        )
        return int((explained[0] != truth[0]).sum())

    assert left(2, ties=True) == 0
    assert left(2, ties=False) == 50 and left(3, ties=True) == 50


def test_what_is_typical_of_an_output_is_allowed_everywhere():
    allowance = torch.tensor([0.0, 2.0, 2.0, 2.0, 9.0], dtype=torch.float64)
    truth = torch.ones(5, dtype=torch.float64)
    off = truth + torch.tensor([2.0, 2.0, 3.0, -2.0, 9.0], dtype=torch.float64)
    typical = typical_of(allowance)
    found = figures.read([figures.passes(off, truth, torch.float64, None, allowance, typical)])[0]
    assert (found["max_abs"], found["worst"]) == (1.0, 2)
    assert typical_of(allowance[:0]) is None


def test_blocks_change_nothing(monkeypatch):
    x = torch.linspace(-2, 3, 11)
    truth, native = x.double().exp(), x.exp()
    wrong = native.clone()
    wrong[[4, 7, 10]] = 0.0

    def judged() -> tuple[list[float], dict]:
        allowance = torch.full_like(truth, 1e-6)
        moved, _ = allowances(
            rounding(rounds=0, flush=True), [argument(x)], [x + 1e-39], [truth], [native], lambda changed: [truth + 1e-3]
        )
        assert moved[0] is not None
        return moved[0].tolist(), wrong_small_values(wrong, truth, native, torch.float32, allowance, False)

    whole = judged()
    monkeypatch.setattr(figures, "BLOCK", 3)
    assert judged() == whole
    assert (whole[1]["wrong"], whole[1]["first"]) == (3, 4)


def test_a_probability_that_is_written_as_zero_is_wrong():
    truth = torch.tensor([0.5, 1e-9], dtype=torch.float64)
    native = truth.float()
    still = torch.zeros_like(truth)
    found = wrong_small_values(torch.tensor([0.5, 0.0]), truth, native, torch.float32, still, True)
    assert (found["wrong"], found["first"]) == (1, 1)
    assert wrong_small_values(native, truth, native, torch.float32, still, True)["wrong"] == 0


def test_a_small_value_counts_only_where_torch_is_near_and_the_truth_stands_still():
    truth = torch.tensor([0.5, 1e-9], dtype=torch.float64)
    far = torch.tensor([0.5, 2e-9])
    zero = torch.tensor([0.5, 0.0])
    still, moving = torch.zeros_like(truth), torch.tensor([0.0, 1e-8], dtype=torch.float64)
    assert wrong_small_values(zero, truth, far, torch.float32, still, True)["wrong"] == 0
    assert wrong_small_values(zero, truth, truth.float(), torch.float32, moving, True)["wrong"] == 0


def test_a_sum_that_crosses_zero_may_be_far_from_what_is_left_of_it():
    truth = torch.tensor([-0.5, 1e-7], dtype=torch.float64)
    found, still = torch.tensor([-0.5, 2e-7]), torch.zeros_like(truth)
    assert wrong_small_values(found, truth, truth.float(), torch.float32, still, True)["wrong"] == 0
    assert wrong_small_values(found, truth, truth.float(), torch.float32, still, False)["wrong"] == 1
