"""Graphs that are recorded because torch.export would take too long."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pragma_torch import graph, recorded


class Loop(torch.nn.Module):
    """In-place updates, weights, a buffer, a plain attribute and a constant that forward makes."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.Linear(4, 4)
        self.register_buffer("decay", torch.rand(4))
        self.shift = torch.tensor([1.0, 2.0, 3.0, 4.0])

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> Any:
        state = torch.zeros_like(x[:, 0])
        out = torch.zeros_like(x)
        for t in range(x.shape[1]):
            state.mul_(self.decay).add_(torch.tanh(self.cell(x[:, t])) * scale)
            out[:, t] = state @ self.cell.weight + torch.tensor([0.5, 0.0, 0.0, 1.0])
        return {"out": out, "last": (state + self.shift, state.chunk(2, -1)[1])}


def values(program: Any, inputs: list[Any]) -> list[torch.Tensor]:
    given = iter(inputs)
    specs = program.graph_signature.input_specs
    held = {**program.state_dict, **program.constants}
    taken = [next(given) if spec.kind.name == "USER_INPUT" else held[spec.target] for spec in specs]
    return list(torch.fx.Interpreter(program.graph_module).run(*taken))


@pytest.fixture
def few(monkeypatch):
    """Records from the sixteenth call on."""
    monkeypatch.setattr(recorded, "_LONG", 15)


def test_a_long_forward_is_recorded_and_computes_the_same(few):
    model = Loop()
    x = torch.randn(3, 6, 4)
    program, why = graph.export(model, [x], {"scale": 2.0}, "loop.py")
    assert isinstance(program, recorded.Recorded), why
    other = torch.randn(3, 6, 4)
    with torch.no_grad():
        expected = model(other, 2.0)
    for wanted, found in zip(
        [expected["out"], *expected["last"]], values(program, [other, 2.0]), strict=True
    ):
        torch.testing.assert_close(found, wanted)
    assert all(held is not x for held in program.constants.values())
    assert not any(n.target in ("state", "out") for n in program.graph.nodes)


def test_the_graph_has_the_operators_that_an_exported_one_has(few):
    program, _ = graph.export(Loop(), [torch.randn(3, 6, 4)], {}, "loop.py")
    ops = [graph._op_name(node) for node in program.graph.nodes if node.op == "call_function"]
    assert ops.count("aten.linear.default") == 6 and ops.count("aten.matmul.default") == 6
    assert ops.count("aten.select_scatter.default") == 6 and "aten.add_.Tensor" not in ops
    roles = [(spec.kind.name, spec.target) for spec in program.graph_signature.input_specs]
    assert ("PARAMETER", "cell.weight") in roles and ("BUFFER", "decay") in roles
    assert ("CONSTANT_TENSOR", "shift") in roles
    assert [kind for kind, _ in roles].count("CONSTANT_TENSOR") == 2  # one for all steps, and the attribute
    shapes = [list(n.meta["val"].shape) for n in program.graph.nodes if n.op == "call_function" and hasattr(n.meta["val"], "shape")]
    assert [3, 6, 4] in shapes and [3, 4] in shapes


def test_a_short_forward_is_exported():
    program, _ = graph.export(Loop(), [torch.randn(3, 6, 4)], {}, "loop.py")
    assert isinstance(program, torch.export.ExportedProgram)


class Reads(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        for _ in range(20):
            x = x + 1
        return x * x.sum().item()


class Draws(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        for _ in range(20):
            x = torch.nn.functional.dropout(x, 0.5)
        return x


class Changes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        for _ in range(20):
            x.add_(1)
        return x * 2


@pytest.mark.parametrize("model", [Reads(), Draws(), Changes()], ids=["reads", "draws", "changes"])
def test_what_a_recording_does_not_show_is_left_to_export(few, model):
    x = torch.randn(3, 4)
    before = x.clone()
    program, why = graph.export(model, [x], {}, "odd.py")
    assert not isinstance(program, recorded.Recorded)
    assert program is not None or why
    assert torch.equal(x, before)
