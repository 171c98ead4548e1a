"""batteries: what the values of each are, and what of a drawn tensor stays."""

from __future__ import annotations

import pytest
import torch

from pragma_torch import batteries, draws
from pragma_torch.plan import DTYPES, Argument
from pragma_torch.structure import Structure, detect

ORDINARY = ("signed", "negative", "positive", "ascending", "descending", "alternating", "outlier", "constant_rows")
ALL = (
    *ORDINARY, "wide_range", "heavy_tails", "integers", "one_hot", "last_only", "ties", "tiny", "denormals",
    "zeros", "far_below", "far_above", "extremely_below", "extremely_above", "offset_1e3", "offset_1e5", "offset_rows",
    "constant_columns", "masked", "masked_rows", "infinities", "nan",
)  # fmt: skip


def spec(name: str, role: str, tensor: torch.Tensor) -> Argument:
    dtype = next(k for k, v in DTYPES.items() if v == tensor.dtype)
    return Argument(name, name, role, dtype, list(tensor.shape))


def made(name, tensor=None, rung=1.0, bound=8.0, role="input", seed=1, chosen=-1, constants=(), part=0):
    """A battery of one tensor."""
    drawn = torch.rand(64, 64) if tensor is None else tensor.clone()
    batteries.Battery(name, rung, bound, seed, "cpu", constants, part).apply(
        [spec("x", role, drawn)], [detect(drawn)], [drawn], chosen
    )
    return drawn


@pytest.fixture(autouse=True, params=[draws.BLOCK, 96], ids=["one block", "many blocks"])
def blocks(request, monkeypatch):
    """Large tensors are made of shifted copies of one block; the same must hold of them."""
    monkeypatch.setattr(draws, "BLOCK", request.param)
    torch.manual_seed(5)


def test_a_parameter_of_one_number_cannot_be_reordered():
    scalar = torch.tensor(1.5)
    assert made("partly_changed", scalar, role="parameter").item() == scalar.item()


def test_signed_has_both_signs_of_the_nominal_size():
    x = made("signed")
    assert abs(float((x < 0).float().mean()) - 0.5) < 0.2
    assert abs(float(x.square().mean().sqrt()) - 0.577) < 0.15


@pytest.mark.parametrize(
    ("name", "rung", "least", "most"),
    [
        ("negative", 1.0, -5.0, -0.01),
        ("positive", 1.0, 0.01, 5.0),
        ("far_below", 1e6, -5e6, -1e6),
        ("far_above", 1e6, 1e6, 5e6),
        ("extremely_below", 1e31, -2e35, -1e31),
        ("extremely_above", 1e31, 1e31, 2e35),
    ],
)
def test_values_of_one_sign_lie_where_they_should(name, rung, least, most):
    x = made(name, rung=rung)
    assert least <= float(x.min()) and float(x.max()) <= most
    assert x.unique().numel() > 80


def test_sixteen_bit_types_hold_the_narrower_rungs():
    assert torch.isfinite(made("far_below", torch.rand(64, 64).half(), rung=1.4e4)).all()
    assert not torch.isfinite(made("far_below", torch.rand(64, 64).half(), rung=1e6)).any()


@pytest.mark.parametrize("offset", ["1e3", "1e5"])
def test_an_offset_is_so_many_times_the_spread(offset):
    x = made("offset_" + offset, torch.rand(64, 64, dtype=torch.float64), rung=float(offset))
    assert abs(abs(float(x.mean() / x.std())) / float(offset) - 1) < 0.2


def test_rows_can_lie_far_apart():
    x = made("offset_rows", torch.rand(64, 64, dtype=torch.float64), rung=1e3)
    assert float(x.mean(dim=1).std()) > 300 and float(x.std(dim=1).max()) < 1.5


@pytest.mark.parametrize("shape", [(64, 64), (3, 20, 30), (500,)])
def test_order_holds_along_each_dimension(shape):
    up, down = made("ascending", torch.rand(shape)), made("descending", torch.rand(shape))
    for d in range(len(shape)):
        assert (up.diff(dim=d) > 0).all() and (down.diff(dim=d) < 0).all()
    assert float(up.min()) < 0 < float(up.max()) and 0.2 < float(up.std()) < 1.5


def test_integers_in_order_are_not_drawn_again():
    x = torch.arange(100)
    batteries.Battery("repeated_indices", 1.0, 1.0, 3, "cpu").apply(
        [spec("x", "input", x)], batteries.structures_of([x]), [x]
    )
    assert torch.equal(x, torch.arange(100))


def test_an_outlier_stands_out_in_each_row():
    x = made("outlier", rung=1e4).abs()
    assert (x.max(dim=1).values > 5000).all()
    assert int((x > 100).sum()) == 64


def test_neighbours_alternate():
    x = made("alternating", torch.rand(8, 480))
    assert (x[:, 1:] * x[:, :-1] < 0).all()
    sizes = x.abs() / x.abs().mean()
    assert 0.85 < float(sizes.min()) and float(sizes.max()) < 1.15


def test_rows_or_columns_are_constant():
    rows, columns = made("constant_rows"), made("constant_columns")
    assert (rows == rows[:, :1]).all() and rows[:, 0].unique().numel() == 64
    assert (columns == columns[:1]).all() and columns[0].unique().numel() == 64


def test_indices_are_drawn_again_from_their_own_values():
    x, index = torch.rand(64), torch.randperm(64)
    arguments = [spec("x", "input", x), spec("index", "input", index)]
    before = x.clone()
    batteries.Battery("repeated_indices", 1.0, 1.0, 3, "cpu").apply(
        arguments, [detect(x), Structure()], [x, index], -1
    )
    assert torch.equal(x, before)
    assert index.unique().numel() < 64 and 0 <= int(index.min()) and int(index.max()) < 64


def test_a_valley_ends_above_where_it_began():
    row = made("valley")[0]
    assert row.argmin() not in (0, row.numel() - 1) and row[-1] > row[0] > row.min()


def test_peaks_lie_at_equal_distances():
    x = made("periodic", torch.randn(10, 256))
    for row in x:
        at = (row > 10).nonzero().flatten()
        distance = int(at[1] - at[0])
        assert distance in (4, 8, 16, 32, 64) and (at.diff() == distance).all()
        assert at.numel() == 256 // distance


@pytest.mark.parametrize("columns", [1, 2, 3, 50])
def test_permuted_rows_hold_the_same_values_between_the_same_ends(columns):
    x = made("permuted_rows", torch.randn(130, columns))
    assert (x.sort(dim=1).values == x[0].sort().values).all()
    assert (x[:, 0] == x[0, 0]).all() and (x[:, -1] == x[0, -1]).all()
    if columns == 50:
        assert not (x[1:] == x[:-1]).all(dim=1).any()


def test_a_positive_outlier_is_the_largest_of_its_row_by_far():
    x = made("positive_outlier", torch.randn(40, 60), rung=1e20)
    largest, rest = x.sort(dim=1).values[:, -1], x.sort(dim=1).values[:, :-1]
    assert (largest > 1e19).all() and (rest < 10).all() and (rest > 0).all()


def test_constants_are_hit_surrounded_and_matched_by_a_norm():
    x = made("constants", torch.randn(600, 32), rung=1e30, constants=(-9999.0, 1e-12, 1e35))
    assert x.isfinite().all() and x.abs().max() < 1e6  # 1e35 would exceed the rung
    hit = (x == -9999.0).sum(dim=1)
    near = ((x + 9999).abs() < 5000).all(dim=1)
    assert (hit[near] == 16).all() and near.any()
    assert (hit == 8).any()
    norms = x.norm(dim=1)
    assert ((norms > 2e-13) & (norms < 5e-12)).any()
    assert (x == 9999.0).any()
    # The type cannot represent 1e-12. The neighbouring value stays on one side of it, whatever the precision of the
    # reference.
    assert not (x.double() == 1e-12).any() and ((x.double() - 1e-12).abs() < 2e-15).any()


def test_parts_show_each_constant_below_and_above_other_values():
    constants = (-9999.0, 7.0, 1e-3, 0.044715, 31.0)
    parts = [made("constants", torch.randn(10, 64), rung=1e30, constants=constants, part=p) for p in range(5)]
    x = torch.cat(parts)
    for constant in constants:
        held = torch.tensor(constant).item()
        near = x[((x - held).abs() < abs(held)).all(dim=1)]
        assert (near.amax(dim=1) <= held * (1 + 2e-3 * (1 if held > 0 else -1))).any()
        assert (near.amin(dim=1) >= held * (1 - 2e-3 * (1 if held > 0 else -1))).any()


def test_without_constants_values_are_signed():
    assert 0.5 < made("constants", torch.randn(64, 64)).std() < 2


def test_partly_changed_moves_the_rows_of_parameters():
    weights = torch.randn(20, 30)
    assert (made("partly_changed", weights, role="parameter") == weights.roll(1, 0)).all()
    bias = torch.randn(30)
    assert (made("partly_changed", bias, role="parameter") == bias.roll(1, 0)).all()


def test_limits_fill_some_rows_or_lie_in_each():
    limits = torch.finfo(torch.float32)
    rows = made("limit_rows", torch.randn(200, 5))
    assert (rows == limits.max).all(dim=1).any() and (rows == limits.min).all(dim=1).any()
    assert (rows.abs() < 100).all(dim=1).any()
    entries = made("limit_entries", torch.randn(200, 50))
    assert (entries == limits.min).any(dim=1).all()
    assert (entries == limits.max).any(dim=1).sum() > 150
    assert (entries.abs() < 100).any(dim=1).all()


def test_zeros_have_both_signs():
    signs = torch.signbit(made("zeros"))
    assert signs.any() and not signs.all()


def test_a_mask_leaves_something_of_each_row():
    x = made("masked")
    masked = torch.isinf(x)
    assert 0.1 < float(masked.float().mean()) < 0.4 and (x[masked] < 0).all()
    assert not masked.all(dim=1).any()
    assert not torch.isinf(made("masked", torch.rand(300, 2))).all(dim=1).any()


def test_masked_rows_are_some_and_not_all():
    whole = torch.isinf(made("masked_rows")).all(dim=1)
    assert whole.any() and not whole.all()


def test_nan_comes_once_in_each_row_and_infinities_are_few_and_in_one_input():
    a, b = torch.rand(16, 16), torch.rand(16, 16)
    arguments = [spec("a", "input", a), spec("b", "input", b)]
    batteries.Battery("nan", 1.0, 1.0, 3, "cpu").apply(arguments, [detect(a), detect(b)], [a, b], 1)
    assert (torch.isnan(b).sum(dim=1) == 1).all() and torch.isfinite(a).all()
    assert torch.isnan(b[0, -1])
    assert 1 <= int(torch.isposinf(made("infinities")).sum()) <= 3


def test_integers_are_integers_in_inputs_and_parameters():
    for role in ("input", "parameter"):
        x = made("integers", role=role)
        assert torch.equal(x, x.round()) and float(x.abs().max()) <= 8 and x.unique().numel() > 10


def test_one_hot_keeps_one_element_of_each_row():
    assert ((made("one_hot") != 0).sum(dim=1) == 1).all()


def test_last_only_keeps_the_last_row_and_column():
    x = made("last_only")
    assert (x[:-1, :-1] == 0).all() and (x[:, -1] != 0).all() and (x[-1] != 0).all()


def test_denormals_are_below_the_smallest_normal():
    assert float(made("denormals").abs().max()) < 1.2e-38


def test_constant_parameters_become_random_and_drawn_ones_stay():
    assert made("signed", torch.ones(64), role="parameter").unique().numel() > 32
    drawn = torch.randn(64)
    assert torch.equal(made("signed", drawn, role="parameter"), drawn)


@pytest.mark.parametrize("name", ORDINARY)
def test_a_triangle_stays_a_triangle(name):
    x = made(name, (torch.rand(64, 64) + 0.1).tril(), rung=1e4)
    assert torch.equal(x == 0, torch.ones(64, 64).triu(1) > 0)


@pytest.mark.parametrize("name", (*ORDINARY, "wide_range", "far_below", "masked"))
def test_a_symmetric_matrix_stays_symmetric(name):
    a = torch.rand(64, 64)
    x = made(name, a + a.mT, rung=1e4)
    assert torch.equal(x, x.mT)


@pytest.mark.parametrize("name", [n for n in ALL if n != "nan"])
def test_labels_probabilities_and_buffers_stay(name):
    labels = torch.where(torch.rand(64, 64) < 0.3, -1.0, 1.0)
    probabilities = torch.rand(64, 64).softmax(-1)
    buffer = torch.rand(64)
    assert torch.equal(made(name, labels), labels)
    assert torch.equal(made(name, probabilities), probabilities)
    assert torch.equal(made(name, buffer, role="buffer"), buffer)


@pytest.mark.parametrize("name", ALL)
def test_every_battery_takes_every_shape_and_type(name):
    for shape in ((), (1,), (7,), (3, 1), (2, 3, 5)):
        for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
            x = torch.rand(shape).to(dtype) + 1
            assert made(name, x, rung=10.0).shape == torch.Size(shape)


def test_the_same_seed_gives_the_same_set_and_another_one_another():
    x = torch.rand(64, 64)
    assert torch.equal(made("signed", x, seed=3), made("signed", x, seed=3))
    assert not torch.equal(made("signed", x, seed=3), made("signed", x, seed=4))
