"""pragma_model: how the parts of a model are found, what their tasks say, and how the whole is compared."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
import textwrap
from typing import Any

import pytest
import torch
from pragma_model.choice import Choice, alike
from pragma_model.keep import keep
from pragma_model.modelfile import Call, ModelFile
from pragma_model.survey import Visit, survey
from pragma_model.unit import NotAUnit, Unit
from pragma_model.values import distance, result_of, tensors_within, wide, wide_result

from pragma_torch.errors import TaskError


class Block(torch.nn.Module):
    def __init__(self, number: int, factor: float = 1.0) -> None:
        super().__init__()
        self.number, self.factor = number, factor
        self.parts = torch.nn.ModuleList(torch.nn.Linear(48, 48) for _ in range(4))
        self.norm = torch.nn.LayerNorm(48)

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        y = x
        for part in self.parts:
            y = torch.tanh(part(y)) * scale + torch.sigmoid(y) * self.factor
        return self.norm(y)


class Stack(torch.nn.Module):
    def __init__(self, factors: list[float]) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(i, f) for i, f in enumerate(factors))
        self.head = torch.nn.Linear(48, 3)

    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        for block in self.blocks:
            x = block(x)
        return {"logits": self.head(x), "last": x, "extra": None}


X = Call((torch.linspace(-1, 1, 64 * 48).reshape(64, 48),), {})


def chosen(model: torch.nn.Module, call: Call = X) -> Choice:
    """Every piece of a module's own work between calls of its submodules takes one second: a busy machine changes
    nothing."""
    found = Choice(model.eval(), [call], [survey(model, call, itertools.count().__next__)], "model.py")
    found.run()
    return found


def test_a_module_is_divided_where_a_hook_is_inside() -> None:
    """Libraries hook modules to record hidden states. A hook on the part itself runs as before."""
    model = torch.nn.Sequential(Block(0), Block(1), torch.nn.ReLU())
    model[0].norm.register_forward_hook(lambda *_: None)
    model[1].register_forward_hook(lambda *_: None)
    found = chosen(model)
    paths = {path for part in found.parts for path in part.paths}
    assert "1" in paths and "0.parts.0" in paths and not paths & {"", "0"}


class OwnsAnotherLibrarysCall(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.act = torch.nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(20):
            x = doubled(x) / 2 + torch.sin(x)
        return self.act(x)


def test_what_is_left_says_so_although_it_has_submodules() -> None:
    model = torch.nn.Sequential(*(OwnsAnotherLibrarysCall() for _ in range(3)))
    left = chosen(model).left
    assert [(entry.kind, entry.paths) for entry in left] == [("OwnsAnotherLibrarysCall", ["0", "1", "2"])]
    assert "pragma_tests.doubled" in left[0].why


def test_equal_blocks_are_one_part() -> None:
    found = chosen(Stack([1.0] * 4))
    assert found.parts[0].paths == [f"blocks.{i}" for i in range(4)]
    assert found.parts[0].unit.operators > 10


def test_blocks_that_compute_something_else_are_another_part() -> None:
    paths = [part.paths for part in chosen(Stack([1.0, 2.0, 1.0, 1.0])).parts]
    assert ["blocks.0", "blocks.2", "blocks.3"] in paths and ["blocks.1"] in paths


def test_attributes_tell_modules_apart() -> None:
    assert not alike(Block(1), Block(2))
    assert alike(Block(1), Block(1))
    assert not alike(torch.nn.LayerNorm(4, eps=1e-5), torch.nn.LayerNorm(4, eps=1e-6))


def test_a_small_model_is_one_part() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(48, 48), torch.nn.ReLU(), torch.nn.Linear(48, 2))
    assert [part.paths for part in chosen(model).parts] == [[""]]


def unit(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Unit:
    return Unit(module.eval(), Call(args, kwargs), "part", "model.py")


def test_a_task_computes_what_the_module_computes() -> None:
    torch.manual_seed(3)
    block = Block(0)
    task = unit(block, X.args[0], scale=0.5).task("a block")
    names: dict[str, Any] = {}
    exec(task["source"], names)
    model = names["Model"]()
    for path, origin in task["arguments"].items():
        if "state" in origin:
            getattr(model, path).data.copy_(block.get_parameter(origin["state"]).data)
    given = [path for path, origin in task["arguments"].items() if "leaf" in origin]
    assert given == ["args[0]"]
    torch.testing.assert_close(model(X.args[0]), block(X.args[0], scale=0.5))
    assert task["leaves"] == [{"argument": 0, "dtype": "float32", "shape": [64, 48]}, {"value": 0.5}]


def test_weights_that_are_all_the_same_are_drawn_around_their_value() -> None:
    names: dict[str, Any] = {}
    exec(unit(torch.nn.LayerNorm(48), X.args[0]).task("a norm")["source"], names)
    model = names["Model"]()
    assert 0.5 < model.weight.mean() < 1.5 and model.weight.std() > 0.01
    assert model.bias.std() > 0.01


class Caches(torch.nn.Module):
    def forward(self, x: torch.Tensor, cache: Any) -> torch.Tensor:
        return x * 2


class Counts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.add_(1)
        return x * 2


@torch.library.custom_op("pragma_tests::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class CallsAnotherLibrary(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return doubled(x) + 1


@pytest.mark.parametrize(
    ("module", "args", "why"),
    [
        (CallsAnotherLibrary(), (torch.ones(3),), "it calls pragma_tests.doubled.default, an operator of another library"),
        (Caches(), (torch.ones(3), object()), "it takes a object"),
        (Counts(), (torch.ones(3),), "it changes seen"),
        (torch.nn.Identity(), (torch.ones(3),), "it computes nothing"),
    ],
)
def test_what_cannot_be_a_task_says_why(module: torch.nn.Module, args: Any, why: str) -> None:
    with pytest.raises(NotAUnit, match=why):
        unit(module, *args)


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value


def test_tensors_in_a_cache_are_compared_too() -> None:
    a, b, c = torch.ones(2), torch.zeros(3), torch.ones(1)
    found = tensors_within({"first": a, "cache": Holder([Holder(b), c])})
    assert [id(t) for t in found] == [id(a), id(b), id(c)]


def test_distances() -> None:
    one = torch.tensor([1.0, 2.0, float("-inf")])
    assert distance(one, one) == 0
    assert distance(one, torch.tensor([1.0, 2.0, 3.0])) == float("inf")
    assert distance(torch.tensor([3.0, 4.0]), torch.tensor([3.0, 4.0 + 5e-3])) == pytest.approx(1e-3, rel=1e-2)
    assert distance(torch.tensor([1, 2, 3, 4]), torch.tensor([1, 2, 3, 5])) == 0.25
    assert distance(torch.ones(2), torch.ones(3)) == float("inf")


class Casts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((8,), 1 / 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.to(torch.float32) * self.scale).sum(-1)


def test_the_truth_is_computed_in_float64_also_where_forward_casts() -> None:
    model = Casts()
    x = torch.linspace(0, 1, 8)
    truth = wide_result(wide(model), Call((x,), {}))[0]
    assert truth.dtype == torch.float64
    assert distance(truth, (x.double() * model.scale.double()).sum(-1)) < 1e-15
    assert 0 < distance(result_of(model, Call((x,), {}))[0], truth) < 1e-6


def written(folder: pathlib.Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(textwrap.dedent(text))
    return str(path)


def test_a_file_gives_the_model_in_eval_mode_and_its_calls(tmp_path: pathlib.Path) -> None:
    file = ModelFile(
        written(
            tmp_path,
            """
            import torch
            def build():
                return torch.nn.Dropout(0.5)
            def inputs():
                return [{"input": torch.rand(3)}, (torch.rand(4),)]
            """,
        )
    )
    assert not file.make_model().training
    first, second = file.make_calls()
    assert first.args == () and list(first.kwargs) == ["input"] and second.args[0].shape == (4,)
    assert torch.equal(file.make_calls(5)[0].kwargs["input"], file.make_calls(5)[0].kwargs["input"])
    assert not torch.equal(file.make_calls(5)[0].kwargs["input"], file.make_calls(6)[0].kwargs["input"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def build():\n    return 3\ndef inputs():\n    return []\n", "build() returns int"),
        ("import torch\ndef build():\n    return torch.nn.ReLU()\n", "no function `inputs`"),
        ("import torch\ndef build():\n    return torch.nn.ReLU()\ndef inputs():\n    return 3\n", "inputs() must return a list"),
        ("import torch\ndef build():\n    return torch.nn.ReLU()\ndef inputs():\n    return [3]\n", "call 1 of inputs() is of type int"),
        ("def build():\n    1 / 0\ndef inputs():\n    return []\n", "ZeroDivisionError"),
    ],
)
def test_a_bad_file_gets_one_clear_line(tmp_path: pathlib.Path, text: str, said: str) -> None:
    with pytest.raises(TaskError) as caught:
        file = ModelFile(written(tmp_path, text))
        file.make_model()
        file.make_calls()
    assert said in caught.value.message and "\n" not in caught.value.message


def test_what_is_not_kept_leaves_the_package(tmp_path: pathlib.Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "units").mkdir()
    files = ["lib/a.so", "lib/b.so", "units/u1.py", "units/u2.py"]
    for name in files:
        (tmp_path / name).write_text(name)
    kernels = [{"name": n, "library": f"lib/{n}.so", "source": "", "operator": ""} for n in "ab"]
    units = [{"name": f"u{i}", "file": f"units/u{i}.py", "kernels": [n]} for i, n in ((1, "a"), (2, "b"))]
    manifest = {"kernels": kernels, "units": units, "files": dict.fromkeys(files, "hash")}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    keep(tmp_path, ["u2"])
    left = json.loads((tmp_path / "manifest.json").read_text())
    assert [u["name"] for u in left["units"]] == ["u2"] and [k["name"] for k in left["kernels"]] == ["b"]
    assert sorted(left["files"]) == ["lib/b.so", "units/u2.py"]
    assert sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.so")) == ["lib/b.so"]


def give_times(visits: dict[str, Visit], whole: float) -> None:
    """Replaces what was measured: each block of the model takes 1 s."""
    for path, visit in visits.items():
        visit.seconds = whole if path == "" else 1.0 if re.fullmatch(r"blocks\.\d", path) else 0.1


def test_calls_of_other_sizes_are_other_parts() -> None:
    model = Stack([1.0, 1.0, 1.0]).eval()
    calls = [X, Call((torch.linspace(-1, 1, 3 * 48).reshape(3, 48),), {}), X]
    visits = [survey(model, call) for call in calls]
    for found in visits:
        give_times(found, whole=3.5)
    choice = Choice(model, calls, visits, "model.py")
    choice.run()
    blocks = [part for part in choice.parts if part.unit.kind == "Block"]
    assert [part.paths for part in blocks] == [[f"blocks.{i}" for i in range(3)]] * 2
    assert sorted(part.unit.given.leaves[0].shape[0] for part in blocks) == [3, 64]


class Masked(torch.nn.Module):
    """Asks what its mask hides, unless it is being compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(i) for i in range(3))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scale = mask if torch.compiler.is_compiling() or not mask.all() else 1.0
        for block in self.blocks:
            x = block(x, scale)
        return x


def test_the_form_in_which_torch_compile_calls_a_part_is_another_part() -> None:
    found = chosen(Masked(), Call((X.args[0], torch.ones(64, 1)), {}))
    assert [(part.compiled, len(part.paths)) for part in found.parts] == [(False, 3), (True, 3)]
    assert found.parts[0].unit.given.leaves[1:] == [1.0]
    assert found.parts[1].unit.given.leaves[1].shape == (64, 1)
    assert not torch.compiler.is_compiling()


def test_parts_that_torch_compile_calls_alike_have_no_other_form() -> None:
    assert not any(part.compiled for part in chosen(Stack([1.0, 1.0, 1.0])).parts)


def test_a_large_module_is_divided_though_its_blocks_are_in_a_list() -> None:
    model = Stack([1.0, 1.0]).eval()
    visits = survey(model, X)
    visits[""].operators = 1000
    choice = Choice(model, [X], [visits], "model.py")
    choice.run()
    assert choice.parts[0].paths == ["blocks.0", "blocks.1"]


def test_a_module_is_divided_for_all_calls_or_for_none() -> None:
    model = Stack([1.0, 1.0, 1.0]).eval()
    calls = [X, Call((torch.linspace(-1, 1, 3 * 48).reshape(3, 48),), {})]
    visits = [survey(model, call) for call in calls]
    for seconds, found in zip((3.5, 5.5), visits, strict=True):  # the blocks' share is 0.86 and 0.55
        give_times(found, whole=seconds)
    choice = Choice(model, calls, visits, "model.py")
    choice.run()
    assert [part.paths for part in choice.parts if part.unit.kind == "Block"] == [[f"blocks.{i}" for i in range(3)]] * 2


class Passes(torch.nn.Module):
    def forward(self, x: torch.Tensor, bias: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
        return x * 2, bias


def test_arguments_that_are_returned_are_no_output_of_the_task() -> None:
    bias = torch.ones(3)
    task = Unit(Passes(), Call((torch.ones(3, 4), bias), {}), "part", "model.py").task("a part")
    assert task["outputs"] == [0] and list(task["arguments"].values()) == [{"leaf": 0}]
    assert task["out_leaves"] == [{"result": 0}, {"leaf": 1, "dtype": "float32", "shape": [3]}]


class OwnWeight(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x + self.weight, self.weight


def test_a_weight_that_is_returned_is_refused() -> None:
    with pytest.raises(NotAUnit, match="it returns a parameter or a constant"):
        Unit(OwnWeight(), Call((torch.ones(3, 4),), {}), "part", "model.py").task("a part")
