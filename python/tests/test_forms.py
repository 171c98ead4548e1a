"""The forms of a task's inputs and outputs, what forward changes, and what a kernel cannot see."""

from __future__ import annotations

import collections
import dataclasses
import json
import sys
import textwrap
from typing import Any

import pytest
import torch

from pragma_candidate import outputs
from pragma_candidate.service import WrongForm
from pragma_export.text import Refused, return_text
from pragma_torch.describe import describe
from pragma_torch.errors import TaskError
from pragma_torch.tree import TreeError, flatten_tree, is_plain, pick

HEAD = "import collections, dataclasses\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


@pytest.fixture
def told(tmp_path):
    def run(text: str, **options: Any) -> Any:
        file = tmp_path / "task.py"
        file.write_text(HEAD + textwrap.dedent(text))
        return describe(str(file), **options)

    return run


def names(specs: list[dict[str, Any]]) -> list[str]:
    return [spec["name"] for spec in specs]


LINEAR = """
    class Model(nn.Module):
        def __init__(self, width, *, bias=True):
            super().__init__()
            self.l = nn.Linear(width, 3, bias=bias)
        def forward(self, x): return self.l(x)
    def get_inputs(): return [torch.ones(2, 4)]
    def get_init_inputs(): return INIT
"""


@pytest.mark.parametrize("init", ["[[4], {'bias': False}]", "{'width': 4, 'bias': False}", "((4,), {'bias': False})"])
def test_constructors_take_positional_and_keyword_arguments(told, init):
    described = told(LINEAR.replace("INIT", init))
    assert names(described.description["arguments"]) == ["x", "l_weight"]
    assert described.description["init_args"] == [{"name": "width", "value": 4}, {"name": "bias", "value": False}]
    assert described.candidate_plan()["init_keywords"] == [["bias", {"value": False}]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_what_cannot_be_described_on_the_device_is_described_on_the_processor(told):
    text = LINEAR.replace("INIT", "[4]")
    assert told(text, device="cuda").description == told(text).description


def test_a_list_and_a_dict_that_the_constructor_wants_stay_two_arguments(told):
    d = told(
        """
        class Model(nn.Module):
            def __init__(self, sizes, options):
                super().__init__()
                self.l = nn.Linear(sizes[0], options["out"])
            def forward(self, x): return self.l(x)
        def get_inputs(): return (torch.ones(2, 4),)
        def get_init_inputs(): return [[4], {"out": 3}]
        """
    ).description
    assert d["outputs"][0]["shape"] == [2, 3]


def test_a_constructor_that_lacks_an_argument_is_told_in_one_line(told):
    with pytest.raises(TaskError, match=r"get_init_inputs\(\) does not fit Model.__init__: missing a required") as caught:
        told(LINEAR.replace("INIT", "{'bias': False}"))
    assert "\n" not in caught.value.message


def test_inputs_by_name_and_nested(told):
    described = told(
        """
        class Model(nn.Module):
            def forward(self, x, *, scale, parts, mode="relu", nothing=None):
                return getattr(F, mode)(x * scale + parts["a"][0] + parts["b"])
        def get_inputs():
            return {"scale": torch.tensor(2.0), "x": torch.ones(2, 3), "mode": "tanh",
                    "parts": {"a": [torch.ones(3)], "b": 1.5}, "nothing": None}
        """
    )
    assert [(a["name"], a["path"]) for a in described.description["arguments"]] == [
        ("x", "args[0]"),
        ("scale", "kwargs['scale']"),
        ("parts_a_0", "kwargs['parts']['a'][0]"),
    ]
    assert described.description["graph"]


OUTPUT = """
    Pair = collections.namedtuple("Pair", "low high")
    @dataclasses.dataclass
    class Both:
        pair: Pair
        count: int
    class Model(nn.Module):
        def forward(self, x):
            return {"both": Both(Pair(x + 1, x - 1), x.shape[0]), "none": None, "list": [x.sum(), (x * 2,)], "big": 1e30}
    def get_inputs(): return [torch.randn(2, 3)]
"""


def test_outputs_keep_their_form(told):
    described = told(OUTPUT)
    d = described.description
    assert [o["path"] for o in d["outputs"]] == [
        "output['both'].pair.low", "output['both'].pair.high", "output['list'][0]", "output['list'][1][0]"
    ]  # fmt: skip
    assert d["output_kind"] == "tree" and len(d["graph"][-1]["args"]) == 4
    request = {"output_kind": "tree", "output_tree": d["output_tree"]}
    text = return_text(request, ["o0", "o1", "o2", "o3"], {"Pair", "Both"})
    assert text == (
        "{'both': Both(pair=Pair(o0, o1), count=2), 'none': None, 'list': [o2, (o3,)], 'big': 1e+30}"
    )
    with pytest.raises(Refused, match="returns a Both"):
        return_text(request, ["o0", "o1", "o2", "o3"], {"Pair"})


def test_a_number_that_depends_on_data_is_refused(told):
    described = told(
        """
        class Model(nn.Module):
            def forward(self, x): return x + 1, x.max().item()
        def get_inputs(): return [torch.randn(2, 3)]
        """
    )
    drawn = described.reference.drawn(3)
    with pytest.raises(TaskError, match=r"output\[1\] is .*; return what depends on data as a tensor"):
        described.reference.results("native", drawn)


def test_what_forward_changes_are_further_outputs(told):
    text = """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bn = nn.BatchNorm1d(3)
                self.register_buffer("cache", torch.zeros(2, 3))
            def forward(self, x, y):
                x.mul_(0.5)
                self.cache.copy_(x + y)
                return self.bn(self.cache)
        def get_inputs(): return [torch.randn(2, 3), torch.randn(2, 3)]
    """
    described = told(text)
    d = described.description
    assert d["updates"] == ["x", "cache"]
    assert names(d["outputs"]) == ["out", "x_after", "cache_after"]
    assert len(d["graph"][-1]["args"]) == 3  # running statistics are not among them
    drawn = described.reference.drawn(3)
    before = [t.clone() for t in drawn]
    _, x, cache = described.reference.results("native", drawn)
    assert torch.equal(x, drawn[0] * 0.5) and torch.allclose(cache, x + drawn[1])
    assert all(torch.equal(a, b) for a, b in zip(before, drawn, strict=True))
    older = told(text, updates_count=False).description
    assert older["updates"] == [] and names(older["outputs"]) == ["out"]


def test_state_outside_the_arguments_on_which_results_depend_is_named(told):
    with pytest.raises(TaskError, match=r"forward keeps SCALE from one call to the next \(line \d+\)"):
        told(
            """
            SCALE = None
            class Model(nn.Module):
                def forward(self, x):
                    global SCALE
                    if SCALE is None: SCALE = x.max()
                    return x / SCALE
            def get_inputs(): return [torch.randn(2, 3)]
            """
        )


def test_state_that_shows_only_on_some_sets_is_named_too(told):
    """The one number that is drawn is negative half of the time, the first time too. Then the result is 0 whatever was
    kept."""
    with pytest.raises(TaskError, match=r"forward keeps SCALE from one call to the next"):
        told(
            """
            SCALE = None
            class Model(nn.Module):
                def forward(self, x):
                    global SCALE
                    if SCALE is None: SCALE = x.abs().max() + 1
                    return torch.relu(x) / SCALE
            def get_inputs(): return [torch.randn(1, 1)]
            """
        )


def test_a_cache_on_which_no_result_depends_is_accepted(told):
    d = told(
        """
        MASKS = {}
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.calls = 0
            def forward(self, x):
                self.calls += 1
                if x.shape not in MASKS: MASKS[x.shape] = torch.ones(x.shape).tril()
                return x * MASKS[x.shape]
        def get_inputs(): return [torch.randn(3, 3)]
        """
    ).description
    assert any("forward keeps MASKS, self.calls between calls" in note for note in d["notes"])


def test_a_graph_that_is_not_what_forward_computes_is_dropped(told):
    d = told(
        """
        class Model(nn.Module):
            def forward(self, x):
                return x * 2 if torch.compiler.is_exporting() else x * 3
        def get_inputs(): return [torch.randn(3, 3)]
        """
    ).description
    assert d["graph"] == [] and "is not what forward computes: output 0 differs" in d["export_error"]


def test_where_a_value_is_read_is_said(told):
    d = told(
        """
        class Model(nn.Module):
            def forward(self, x):
                if x.sum() > 0:
                    return x
                return -x
        def get_inputs(): return [torch.randn(3, 3)]
        """
    ).description
    assert d["export_error"].startswith("line 8 (if x.sum() > 0:) reads a tensor's value")


Pair = collections.namedtuple("Pair", "low high")


class Lazy(tuple):
    """A tuple whose items would be made when they are read."""

    _fields = ("low", "high")

    def __iter__(self):
        raise AssertionError("code of a candidate's class was run")

    __getitem__ = __len__ = __iter__  # type: ignore[assignment]


Lazy.__name__ = "Pair"


@dataclasses.dataclass
class Box:
    value: Any


class LazyBox(Box):
    def __getattribute__(self, name: str) -> Any:
        raise AssertionError("code of a candidate's class was run")


LazyBox.__name__ = "Box"


def test_a_form_is_compared_without_running_code_of_a_candidates_class():
    x, y = torch.ones(2), torch.zeros(2)
    tree, _ = flatten_tree({"pair": Pair(x, y), "box": Box(x), "n": 3})
    lazy = {"pair": tuple.__new__(Lazy, (y, x)), "box": LazyBox.__new__(LazyBox), "n": 3}
    object.__setattr__(lazy["box"], "value", y)
    found = pick(tree, lazy)
    assert found[0][1] is y and found[1][1] is x and found[2][1] is y


@pytest.mark.parametrize(
    "value, said",
    [
        ({"a": torch.ones(2), "n": 4}, r"output\['n'\] is 4, expected 3"),
        ({"a": torch.ones(2), "n": True}, r"output\['n'\] is True, expected 3"),
        ({"a": torch.ones(2)}, r"output has the members \['a'\], expected \['a', 'n'\]"),
        ([torch.ones(2), 3], r"output is of type list, expected a dict"),
    ],
)
def test_another_form_is_a_wrong_form(value, said):
    tree, _ = flatten_tree({"a": torch.ones(2), "n": 3})
    with pytest.raises(WrongForm, match=said):
        outputs.store(value, [torch.zeros(2)], tree)


def test_the_order_of_keys_does_not_count():
    tree, _ = flatten_tree({"a": torch.ones(2), "b": torch.zeros(2)})
    areas = [torch.full((2,), 7.0), torch.full((2,), 7.0)]
    outputs.store({"b": torch.zeros(2), "a": torch.ones(2)}, areas, tree)
    assert areas[0].tolist() == [1, 1] and areas[1].tolist() == [0, 0]


def test_an_argument_that_should_have_changed_is_stored():
    x, area = torch.ones(2), torch.full((2,), 7.0)
    outputs.store(torch.zeros(2), [torch.zeros(2), area], {"leaf": 0}, [x])
    assert area.tolist() == [1, 1]


def test_results_of_torchs_operators_with_several_may_be_plain_tuples():
    tree, _ = flatten_tree(torch.ones(2, 2).max(1))
    assert is_plain(tree)
    areas = [torch.zeros(2), torch.zeros(2, dtype=torch.int64)]
    outputs.store(torch.ones(2, 2).max(1), areas, tree)
    outputs.store((torch.ones(2), torch.zeros(2, dtype=torch.int64)), areas, tree)
    text = return_text({"output_kind": "tree", "output_tree": json.dumps(tree)}, ["o0", "o1"], set())
    assert text == "torch.return_types.max((o0, o1,))"


def test_objects_are_no_outputs():
    with pytest.raises(TreeError, match="output is of type Struct"):
        flatten_tree(sys.implementation and type("Struct", (), {})())
