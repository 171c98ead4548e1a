"""Complex tensors: pairs of real numbers for kernels (plan.pairs_of), and graphs without them (complex_pairs.py)."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch

from pragma_candidate import outputs
from pragma_candidate.service import WrongForm
from pragma_torch import graph
from pragma_torch.describe import describe
from pragma_torch.instance import Instance
from pragma_torch.plan import pairs_of


@pytest.fixture
def told(tmp_path):
    def run(result: str, statement: str = "") -> Any:
        file = tmp_path / "task.py"
        file.write_text(textwrap.dedent(TASK.format(result=result, statement=statement)))
        return describe(str(file))

    return run


TASK = """
    import torch
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(6, dtype=torch.complex64))
            self.register_buffer("turn", torch.polar(torch.ones(6), torch.linspace(0, 3, 6)))
        def forward(self, x, y, r):
            {statement}
            return {result}
    def get_inputs():
        return [torch.randn(4, 6, dtype=torch.complex64), torch.randn(4, 6, dtype=torch.complex64), torch.randn(4, 6)]
    def get_init_inputs(): return []
"""


@pytest.mark.parametrize(
    "result",
    [
        "x * y + self.w - 2j * self.turn",
        "x / y, x / (2 - 1j), 3 / (y + 4), r / (y + 4), x / 4",
        "x.abs(), x.angle(), x.real, x.imag, x.conj() * x, x ** 2",
        "torch.exp(1j * r), torch.complex(r, r * 2), torch.polar(r, r)",
        "torch.view_as_real(x), torch.view_as_complex(torch.stack([r, r + 1], -1)) - x",
        "x @ y.mH, (x.reshape(2, 12).sum(-1), x.mean(0)), torch.cat([x, y])[1:, ::2]",
        "torch.cat([x, r]), torch.stack([r, y], 1)",
        "torch.where(r > 0, x, y), (-x).to(torch.complex128), r.to(torch.complex64) + x",
        "x + r, r - x, 1 - x, x - 1, x.mT.flip(0).unsqueeze(1).expand(6, 3, 4)",
        "torch.nn.functional.pad(x, (1, 2))",
    ],
)
def test_a_graph_of_complex_operators_becomes_real(told, result):
    d = told(result).description
    assert d["export_error"] == "" and d["graph"]
    assert not any("complex" in node["op"] or "conj" in node["op"] for node in d["graph"])
    assert all(node["results"] for node in d["graph"] if node["op"] != "output" and "_assert" not in node["op"])


def test_an_operator_without_a_rule_stays_torchs(told):
    d = told("torch.tan(x * y).abs() + torch.fft.ifft(x).real").description
    assert d["export_error"] == ""
    operators = [node["op"] for node in d["graph"]]
    assert "aten.tan.default" in operators and "aten._fft_c2c.default" in operators


def test_sizes_whose_squares_are_out_of_range_stay_right(told):
    for scale in ("1e30", "1e-30"):
        assert told(f"(x * {scale}).abs(), x / (y * {scale})").description["export_error"] == ""


def test_the_specs_say_which_tensors_are_complex(told):
    d = told("{'y': x * self.w, 'size': x.abs()}").description
    assert [(a["name"], a["dtype"], a["shape"], a.get("complex", False)) for a in d["arguments"]] == [
        ("x", "float32", [4, 6, 2], True),
        ("y", "float32", [4, 6, 2], True),
        ("r", "float32", [4, 6], False),
        ("w", "float32", [6, 2], True),
        ("turn", "float32", [6, 2], True),
    ]
    assert [(o["shape"], o.get("complex", False)) for o in d["outputs"]] == [([4, 6, 2], True), ([4, 6], False)]


def test_the_reference_takes_and_gives_pairs(told):
    task = told("x.conj() * self.w")
    tensors = task.reference.drawn(7)
    x, w = (torch.view_as_complex(tensors[i]) for i in (0, 3))
    for precision in ("native", "float64"):
        (result,) = task.reference.results(precision, tensors)
        torch.testing.assert_close(result.float(), torch.view_as_real(x.conj() * w))
    assert result.dtype == torch.float64


def test_what_forward_writes_into_a_complex_buffer_is_an_output(told):
    task = told("x.abs()", "self.turn.mul_(x[0])")
    assert task.description["updates"] == ["turn"]
    assert task.description["outputs"][-1] | {"name": ""} == {
        "name": "", "path": "turn", "role": "output", "dtype": "float32", "shape": [6, 2], "complex": True,
    }  # fmt: skip
    tensors = task.reference.drawn(7)
    before = tensors[4].clone()
    instance = Instance(task.task.make_model(), task.plan)
    instance.bind(tensors)
    instance()
    expected = torch.view_as_complex(before) * torch.view_as_complex(tensors[0])[0]
    torch.testing.assert_close(instance.updated()[0], torch.view_as_real(expected))


def test_pairs_of_a_conjugate_have_its_values():
    x = torch.randn(3, dtype=torch.complex64)
    assert torch.equal(pairs_of(x.conj())[..., 1], -x.imag)
    assert pairs_of("text") == "text"


def test_a_solution_must_return_complex_tensors_where_model_does():
    pairs, plain = torch.zeros(3, 2), torch.zeros(3)
    tree = {"tuple": [{"pairs": 0}, {"leaf": 1}]}
    areas = outputs.complex_where(tree, [pairs, plain])
    x = torch.randn(3, dtype=torch.complex64)
    outputs.store((x.conj(), x.real), areas, tree)
    assert torch.equal(pairs, pairs_of(x.conj())) and torch.equal(plain, x.real)
    with pytest.raises(WrongForm, match="shape"):
        outputs.store((torch.view_as_real(x), x.real), areas, tree)


_EXTREMES = (0.0, -0.0, 1.5, -2.0, 1e30, 1e-30, float("inf"), -float("inf"), float("nan"))


class _Extreme(torch.nn.Module):
    def forward(self, a, b):
        return torch.view_as_real(a / b), torch.view_as_real(2 / b), torch.view_as_real(a.real / b), a.abs()


def test_division_and_size_treat_extremes_as_torch_does():
    values = torch.tensor([complex(x, y) for x in _EXTREMES for y in _EXTREMES], dtype=torch.complex64)
    a, b = (grid.contiguous() for grid in torch.meshgrid(values, values, indexing="ij"))
    program, _ = graph.export(_Extreme(), [a, b], {}, "")
    found = torch.fx.Interpreter(graph.decompose(program).graph_module).run(pairs_of(a), pairs_of(b))
    for mine, eager in zip(found, _Extreme()(a, b), strict=True):
        torch.testing.assert_close(mine, eager, rtol=1e-5, atol=1e-37, equal_nan=True)
