"""Islands: parts of a graph as task files, and the steps that put the whole together again."""

from __future__ import annotations

import pathlib
import textwrap
from typing import Any

import pytest
import torch

from pragma_torch import graph, islands
from pragma_torch.border import drawn_like
from pragma_torch.errors import ServerError
from pragma_torch.plan import Plan
from pragma_torch.taskfile import TaskFile

WHOLE = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(24, 40)
            self.norm = torch.nn.LayerNorm(40)
            self.register_buffer("shift", torch.randn(40))

        def forward(self, x):
            y = torch.relu(self.first(x)) + self.shift
            order = torch.argsort(y, dim=-1)
            z = self.norm(torch.gather(y, -1, order))
            return z, torch.softmax(z.tril() * 0.5, -1)

    def get_inputs():
        return [torch.randn(6, 24)]
"""


class Whole:
    """A task's exported graph, with the leaves of its inputs."""

    def __init__(self, folder: pathlib.Path, text: str) -> None:
        file = folder / "whole.py"
        file.write_text(textwrap.dedent(text))
        task = TaskFile(str(file))
        self.model = task.make_model()
        self.leaves = task.make_inputs().positional
        program, why = graph.export(self.model, self.leaves, {}, str(file))
        assert program is not None, why
        self.program = graph.decompose(program)
        self.operators = [n.name for n in self.program.graph.nodes if n.op == "call_function"]

    def cut(self, parts: list[list[str]]) -> dict[str, Any]:
        cut = islands.cut(self.program, self.leaves, "whole", parts)
        return cut | islands.arrange(self.program, Plan([], []), parts)


@pytest.fixture
def whole(tmp_path: pathlib.Path) -> Whole:
    return Whole(tmp_path, WHOLE)


def module_of(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "island.py", "exec"), names)
    return names


def run_steps(whole: Whole, cut: dict[str, Any]) -> list[torch.Tensor]:
    """Computes the whole from its islands, whose state is set to the whole's."""
    arguments = islands.flat_arguments(whole.program, whole.leaves)
    placeholders = [n.name for n in whole.program.graph.nodes if n.op == "placeholder"]
    values: dict[str, Any] = dict(zip(placeholders, arguments, strict=True))
    for step in cut["steps"]:
        if step["island"] < 0:
            exec(step["line"], {"torch": torch}, values)
            continue
        part = cut["islands"][step["island"]]
        island = module_of(part["source"])["Model"]()
        for path, tensor in [*island.named_parameters(), *island.named_buffers()]:
            tensor.copy_(values[part["arguments"][path]])
        inputs = [name for path, name in part["arguments"].items() if path.startswith("args[")]
        result = island(*[values[name] for name in inputs])
        results = result if isinstance(result, tuple) else (result,)
        values |= dict(zip(part["outputs"], results, strict=True))
    return [values[name] for name in cut["results"]]


def split(whole: Whole, at: str) -> list[list[str]]:
    """Returns what is before and after the operator; the parts of its result belong to it."""
    node = next(n for n in whole.program.graph.nodes if n.name == at)
    place = whole.operators.index(at)
    own = {user.name for user in node.users}
    return [whole.operators[:place], [name for name in whole.operators[place + 1 :] if name not in own]]


def test_islands_and_torchs_operators_compute_the_whole(whole: Whole) -> None:
    sort = next(name for name in whole.operators if "sort" in name)
    with torch.no_grad():
        expected = whole.model(*whole.leaves)
        found = run_steps(whole, whole.cut(split(whole, sort)))
    for a, b in zip(expected, found, strict=True):
        torch.testing.assert_close(a, b)


def test_an_island_is_a_task_of_its_own(whole: Whole) -> None:
    cut = whole.cut([[name for name in whole.operators if "linear" in name or "relu" in name]])
    names = module_of(cut["islands"][0]["source"])
    inputs = names["get_inputs"]()
    assert [tuple(tensor.shape) for tensor in inputs] == [(6, 24)]
    output = names["Model"]()(*inputs)
    assert output.shape == (6, 40) and (output >= 0).all()
    assert cut["islands"][0]["arguments"] == {"first_weight": "p_first_weight", "first_bias": "p_first_bias", "args[0]": "x"}


def test_an_island_that_waits_for_what_waits_for_it_is_refused(whole: Whole) -> None:
    linear = next(name for name in whole.operators if "linear" in name)
    with pytest.raises(ServerError, match="convex"):
        whole.cut([[linear, whole.operators[-1]]])


def test_an_unknown_operator_is_named(whole: Whole) -> None:
    with pytest.raises(ServerError, match="no operator nonsense"):
        whole.cut([["nonsense"]])


def test_every_operator_has_a_time(whole: Whole) -> None:
    seconds = islands.operator_seconds(whole.program, whole.leaves, rounds=1)
    assert list(seconds) == whole.operators
    assert all(value >= 0 for value in seconds.values())


@pytest.mark.parametrize(
    ("recorded", "holds"),
    [
        (torch.randn(50, 40), lambda t: t.min() < 0 < t.max() and t.abs().max() < 6),
        (torch.rand(50, 40) + 3, lambda t: (t >= 2.99).all() and (t <= 4.01).all()),
        (torch.relu(torch.randn(50, 40)), lambda t: (t >= 0).all() and 0.2 < (t == 0).double().mean() < 0.8),
        (torch.softmax(torch.randn(50, 40), -1), lambda t: torch.allclose(t.sum(-1), torch.ones(50))),
        (torch.rand(50, 40).cumsum(-1), lambda t: (t.diff(dim=-1) >= 0).all()),
        (torch.randint(3, 9, (50, 40)), lambda t: t.min() >= 3 and t.max() <= 8),
        (torch.argsort(torch.randn(50, 40), -1), lambda t: (t.sort(-1).values == torch.arange(40)).all()),
        (torch.randint(0, 90, (40,)).sort().values, lambda t: (t.diff() >= 0).all()),
        (torch.rand(50, 40) < 0.3, lambda t: t.dtype == torch.bool and 0.2 < t.double().mean() < 0.4),
        (torch.zeros(50, 40).masked_fill(torch.ones(50, 40).triu(1) > 0, float("-inf")),
         lambda t: torch.isfinite(t[:, 0]).all() and torch.isinf(t).any() and not torch.isnan(t).any()),
        (torch.ones(7, dtype=torch.bfloat16), lambda t: (t == 1).all()),
        (torch.full((), 2.5), lambda t: t == 2.5),
        (torch.randn(4, 5, dtype=torch.float64), lambda t: t.dtype == torch.float64),
        (torch.empty(0, 5), lambda t: t.shape == (0, 5)),
        (torch.full((3,), float("nan")), lambda t: t.isnan().all()),
    ],
)
def test_values_are_drawn_like_the_recorded_ones(recorded: torch.Tensor, holds: Any) -> None:
    names = module_of(islands._FILE.format(title="", state="", parameters="", body="...", inputs=""))
    drawn = eval(drawn_like(recorded), names)
    assert drawn.shape == recorded.shape and drawn.dtype == recorded.dtype
    assert holds(drawn)


NUMBERED = """
    import torch

    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.ceil(x.abs() / torch.tensor(3.5)) + torch.tensor([1.0, 2.0, 4.0])

    def get_inputs():
        return [torch.randn(6, 3)]
"""


def test_a_number_that_forward_makes_is_a_part_of_the_island(tmp_path):
    whole = Whole(tmp_path, NUMBERED)
    (island,) = whole.cut([whole.operators])["islands"]
    names = module_of(island["source"])
    assert sorted(tuple(t.shape) for t in names["get_inputs"]()) == [(3,), (6, 3)]  # a list is still an input
    assert [float(t) for t in names["Model"]().buffers()] == [3.5]
