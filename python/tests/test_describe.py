"""describe, on tasks of every shape; in this process, where one torch serves all."""

from __future__ import annotations

import os
import pathlib
import textwrap

import pytest
import torch

from pragma_torch import describe as describing
from pragma_torch import graph
from pragma_torch.describe import Described, describe
from pragma_torch.errors import TaskError


def write(folder: pathlib.Path, text: str) -> str:
    path = folder / "task.py"
    path.write_text(
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
        + textwrap.dedent(text)
    )
    return str(path)


@pytest.fixture
def told(tmp_path):
    def run(text: str, limit: int = 0) -> Described:
        return describe(write(tmp_path, text), limit)

    return run


@pytest.fixture
def task(told):
    return lambda text: told(text).description


def names(specs: list[dict]) -> list[str]:
    return [spec["name"] for spec in specs]


def values(pairs: list[dict]) -> dict:
    return {pair["name"]: pair["value"] for pair in pairs}


LINEAR = """
    class Model(nn.Module):
        def __init__(self, n, m=4):
            super().__init__()
            self.fc = nn.Linear(n, m)
        def forward(self, x): return self.fc(x)
    def get_inputs(): return [torch.randn(3, 5)]
    def get_init_inputs(): return [5]
"""


def test_a_linear_layer(task):
    d = task(LINEAR)
    assert names(d["arguments"]) == ["x", "fc_weight", "fc_bias"]
    assert [a["role"] for a in d["arguments"]] == ["input", "parameter", "parameter"]
    assert d["outputs"] == [
        {"name": "out", "path": "output", "role": "output", "dtype": "float32", "shape": [3, 4]}
    ]
    assert d["output_kind"] == "tensor"
    assert values(d["init_args"]) == {"n": 5}
    assert d["category"] == "matmul"
    assert d["flops"] == 2 * 3 * 5 * 4
    assert d["reduction_length"] == 6  # five products and the bias
    assert d["compulsory_bytes"] == 4 * (15 + 20 + 4 + 12)
    assert not d["random"] and not d["stateful"] and d["export_error"] == ""
    ops = {node["op"] for node in d["graph"]}
    assert ops == {"placeholder", "aten.linear.default", "output"}
    linear = next(node for node in d["graph"] if node["op"] == "aten.linear.default")
    assert linear["results"][0]["shape"] == [3, 4] and linear["strides"] == [[4, 1]]
    # Every node named as an argument must exist.
    known = {node["name"] for node in d["graph"]}
    assert {arg["node"] for arg in linear["args"]} <= known


def test_outputs_inputs_and_arguments_of_every_kind(task):
    d = task(
        """
        class Model(nn.Module):
            def forward(self, x, flags, k, sizes, pair, mode, *rest):
                a, b = pair
                y = x * k + sizes[0] + a.sum() + b["c"].sum() + rest[0]
                return [torch.where(flags, y, -y), flags.sum(), y.argmax(dim=1), y > 0]
        def get_inputs():
            return [torch.randn(2, 3), torch.tensor([True, False, True]), float("inf"), [1, 2.5],
                    (torch.randn(2), {"c": torch.ones(2, dtype=torch.int32)}), "sum", torch.ones(()), None]
    """
    )
    assert names(d["arguments"]) == ["x", "flags", "pair_0", "pair_1_c", "rest_0"]
    assert [a["dtype"] for a in d["arguments"]] == [
        "float32",
        "bool",
        "float32",
        "int32",
        "float32",
    ]
    assert d["output_kind"] == "list"
    assert names(d["outputs"]) == ["out_0", "out_1", "out_2", "out_3"]
    assert [o["dtype"] for o in d["outputs"]] == ["float32", "int64", "int64", "bool"]
    assert values(d["call_args"]) == {
        "k": {"float": "inf"},
        "sizes": [1, 2.5],
        "mode": "sum",
        "rest_1": None,
    }


def test_names_are_identifiers_and_unique(task):
    d = task(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_parameter("int", nn.Parameter(torch.ones(2)))
                self.layers = nn.ModuleList([nn.Linear(2, 2, bias=False)])
                self.layers_0_weight = nn.Parameter(torch.ones(2))
                self.out = nn.Parameter(torch.ones(2))
                self._odd = nn.Parameter(torch.ones(2))
            def forward(self, x):
                return self.layers[0](x) * getattr(self, "int") + self.layers_0_weight + self.out + self._odd
        def get_inputs(): return [torch.randn(2, 2)]
    """
    )
    assert names(d["arguments"]) == [
        "x",
        "t_int",
        "layers_0_weight",
        "out",
        "t_odd",
        "layers_0_weight_2",
    ]
    assert names(d["outputs"]) == ["out_2"]


def test_tied_weights_appear_once(task):
    d = task(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(4, 4)
                self.b = nn.Linear(4, 4)
                self.b.weight = self.a.weight
            def forward(self, x): return self.b(self.a(x))
        def get_inputs(): return [torch.randn(4, 4)]
    """
    )
    assert names(d["arguments"]) == ["x", "a_weight", "a_bias", "b_bias"]
    assert any("a.weight, b.weight are one tensor" in note for note in d["notes"])
    shown = [r["name"] for n in d["graph"] if n["op"] == "placeholder" for r in n["results"]]
    assert shown.count("a_weight") == 2  # both placeholders name the same argument


def test_batch_norm_in_train_mode_is_stateful(told):
    described = told(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bn = nn.BatchNorm2d(3)
            def forward(self, x): return self.bn(x)
        def get_inputs(): return [torch.randn(2, 3, 4, 5)]
    """
    )
    d = described.description
    assert [a["role"] for a in d["arguments"]] == ["input"] + ["parameter"] * 2 + ["buffer"] * 3
    assert d["arguments"][-1] | {"path": ""} == {
        "name": "bn_num_batches_tracked",
        "path": "",
        "role": "buffer",
        "dtype": "int64",
        "shape": [],
    }
    assert d["stateful"] and not d["random"]
    assert d["category"] == "normalization"
    assert d["reduction_length"] == 2 * 4 * 5
    mutated = [a.name for a in described.plan.arguments if a.mutated]
    assert mutated == ["bn_running_mean", "bn_running_var", "bn_num_batches_tracked"]
    updates = [pair["name"] for pair in d["graph"][-1]["kwargs"]]
    assert "bn.running_mean" in updates and len(d["graph"][-1]["args"]) == 1


def test_the_graph_is_decomposed_before_parameters_move_to_a_device(told, monkeypatch):
    """Decompositions fail where parameters are on a GPU and the exported inputs are not."""
    order = []

    def noted(module, name):
        real = getattr(module, name)

        def run(*given):
            order.append(name)
            return real(*given)

        monkeypatch.setattr(module, name, run)

    noted(graph, "decompose")
    noted(describing, "observe")
    description = told(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.GroupNorm(2, 8)
            def forward(self, x): return self.norm(x)
        def get_inputs(): return [torch.randn(2, 8, 6)]
        def get_init_inputs(): return []
        """
    ).description
    assert order == ["decompose", "observe"]
    assert "aten.native_group_norm.default" in [node["op"] for node in description["graph"]]


def test_constants(told):
    described = told(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.mask = torch.randn(3)
                self.register_buffer("scale", torch.ones(3), persistent=False)
            def forward(self, x): return x * self.mask * self.scale + torch.tensor([1.0, 2.0, 3.0])
        def get_inputs(): return [torch.randn(2, 3)]
    """
    )
    d = described.description
    assert [(a["name"], a["role"]) for a in d["arguments"]] == [
        ("x", "input"),
        ("scale", "buffer"),
        ("mask", "constant"),
        ("lifted_tensor_0", "constant"),
    ]
    assert [a.get("constant", "") for a in d["arguments"]] == ["", "", "", "0000803f0000004000004040"]


@pytest.mark.parametrize(
    "line,random",
    [
        ("F.dropout(x, 0.5, self.training)", True),
        ("F.dropout(x, 0.5, False)", False),
        ("x + torch.rand(3)", True),
        ("x + __import__('random').random()", True),
        ("F.scaled_dot_product_attention(x[None], x[None], x[None])", False),
        ("x + 1", False),
    ],
)
def test_randomness(task, line, random):
    d = task(
        f"""
        class Model(nn.Module):
            def forward(self, x): return {line}
        def get_inputs(): return [torch.randn(8, 3)]
    """
    )
    assert d["random"] is random


def test_export_failure_falls_back_to_the_state_dict(task):
    d = task(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
                self.bn = nn.BatchNorm1d(3)
                self.hidden = torch.randn(2, 3)
            def forward(self, x):
                if x.sum().item() > 1e9: return x
                self.hidden = torch.tanh(self.bn(self.fc(x)) + self.hidden)
                return self.hidden
        def get_inputs(): return [torch.randn(2, 3)]
    """
    )
    assert d["export_error"] and d["graph"] == []
    assert [a["name"] for a in d["arguments"]] == [
        "x",
        "fc_weight",
        "fc_bias",
        "bn_weight",
        "bn_bias",
        "bn_running_mean",
        "bn_running_var",
        "bn_num_batches_tracked",
        "hidden",
    ]
    assert any("torch.export failed" in note for note in d["notes"])
    assert d["stateful"] and d["category"] == "matmul" and d["reduction_length"] == 6


@pytest.mark.parametrize(
    "expression,category,length",
    [
        ("x @ x.T", "matmul", 64),
        ("(x @ x.T) @ x", "matmul", 96),
        ("F.conv1d(x[None, :, :], torch.ones(5, 32, 3), padding=1)", "convolution", 96),
        ("F.conv_transpose1d(x[None], torch.ones(32, 5, 4), stride=2)", "convolution", 64),
        ("F.relu(x)", "activation", 1),
        ("x / (1 + x.abs())", "activation", 1),
        ("torch.softmax(x, 1)", "activation", 64),
        ("F.layer_norm(x, (64,))", "normalization", 64),
        ("F.group_norm(x[None], 4)", "normalization", 8 * 64),
        ("x / x.norm(dim=1, keepdim=True)", "normalization", 64),
        ("x.mean(0)", "pooling_reduction", 32),
        ("x.amax(1)", "pooling_reduction", 1),
        ("F.avg_pool1d(x[None], 4)", "pooling_reduction", 4),
        ("F.max_pool1d(x[None], 4)", "pooling_reduction", 1),
        ("x.cumsum(1)", "other", 64),
        ("F.mse_loss(x, x + 1)", "other", 32 * 64),
        ("torch.mean(torch.clamp(1 - x * x, min=0))", "pooling_reduction", 32 * 64),
        ("F.cross_entropy(x, torch.arange(32))", "other", 64 + 32),
        ("torch.sort(x)[0]", "other", 1),
    ],
)
def test_category_and_reduction_length(task, expression, category, length):
    d = task(
        f"""
        class Model(nn.Module):
            def forward(self, x): return {expression}
        def get_inputs(): return [torch.randn(32, 64)]
    """
    )
    assert (d["category"], d["reduction_length"]) == (category, length)


@pytest.mark.parametrize(
    "expression,flops",
    [
        ("x + 1", 32 * 64),
        ("x.sum()", 32 * 64),
        ("x.T.contiguous()", 0),
        ("torch.relu(x @ x.T)", 2 * 32 * 32 * 64 + 32 * 32),
        ("F.layer_norm(x, (64,))", 2 * 32 * 64),
        ("F.avg_pool1d(x[None], 4, stride=1)", 32 * 61 * 4),
    ],
)
def test_flops(task, expression, flops):
    d = task(
        f"""
        class Model(nn.Module):
            def forward(self, x): return {expression}
        def get_inputs(): return [torch.randn(32, 64)]
    """
    )
    assert d["flops"] == flops


BAD = {
    "syntax": ("def broken(:\n", "task.py: not valid Python: invalid syntax (line 5)"),
    "import": (
        "import nothing_there\n",
        "importing it raises ModuleNotFoundError: No module named 'nothing_there' (line 5); install nothing_there alongside torch",
    ),
    "exit": ("import sys\nsys.exit(3)\n", "importing it ends the program (exit code 3)"),
    "no model": ("def get_inputs(): return []\n", "no class `Model`"),
    "model is not a module": (
        "class Model: pass\ndef get_inputs(): return []\n",
        "no class `Model` that derives",
    ),
    "no get_inputs": ("class Model(nn.Module): pass\n", "no function `get_inputs`"),
    "get_inputs raises": (
        "class Model(nn.Module): pass\ndef helper(): raise ValueError('empty')\ndef get_inputs(): return helper()\n",
        "get_inputs() raises ValueError: empty (line 6)",
    ),
    "get_inputs no list": (
        "class Model(nn.Module): pass\ndef get_inputs(): return torch.ones(2)\n",
        "get_inputs() must return a list, tuple or dict of arguments, not Tensor",
    ),
    "init raises": (
        "class Model(nn.Module):\n    def __init__(self, n): super().__init__()\ndef get_inputs(): return []\n",
        "Model(...) raises TypeError",
    ),
    "forward raises": (
        "class Model(nn.Module):\n    def forward(self, x): return x @ x\ndef get_inputs(): return [torch.ones(2, 3)]\n",
        "forward raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3) (line 6)",
    ),
    "no tensor": (
        "class Model(nn.Module):\n    def forward(self, x): return x.sum().item()\ndef get_inputs(): return [torch.ones(2)]\n",
        "forward returns no tensor",
    ),
    "object in tuple": (
        "class Model(nn.Module):\n    def forward(self, x): return x, object()\ndef get_inputs(): return [torch.ones(2)]\n",
        "output[1] is of type object; outputs may be tensors, None, numbers",
    ),
    "unsigned": (
        "class Model(nn.Module):\n    def forward(self, x): return x\n"
        "def get_inputs(): return [torch.ones(2, dtype=torch.uint16)]\n",
        "unsupported type uint16",
    ),
    "object": (
        "class Model(nn.Module):\n    def forward(self, x, y): return x\n"
        "def get_inputs(): return [torch.ones(2), object()]\n",
        "args[1] is of type object",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tasks_are_one_clear_line(told, name):
    text, message = BAD[name]
    # Three import lines and an empty one come first, so the text begins on line 5, as in `write`.
    with pytest.raises(TaskError) as caught:
        told("\n" + text)
    assert message in caught.value.message
    assert "\n" not in caught.value.message and caught.value.message.startswith("task.py: ")


def test_tracebacks_show_the_task_and_nothing_of_ours(told):
    with pytest.raises(TaskError) as caught:
        told("\n" + BAD["get_inputs raises"][0])
    assert "in get_inputs" in caught.value.detail and "ValueError: empty" in caught.value.detail
    assert "pragma_torch" not in caught.value.detail


def test_no_such_file(tmp_path):
    with pytest.raises(TaskError, match="gone.py: no such file"):
        describe(str(tmp_path / "gone.py"))


def test_a_task_too_large_for_memory_is_told_before_it_is_allocated(told):
    with pytest.raises(TaskError) as caught:
        told(
            """
            class Model(nn.Module):
                def forward(self, x): return x + 1
            def get_inputs(): return [torch.randn(1 << 20, 1 << 20)]
        """,
            8 << 30,
        )
    assert "inputs and parameters take 4 TiB" in caught.value.message
    assert "only 8 GiB may be used" in caught.value.message


def test_not_contiguous_inputs_are_noted(task):
    d = task(
        """
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.randn(4, 3).T]
    """
    )
    assert d["arguments"][0]["shape"] == [3, 4]
    assert any("not contiguous" in note for note in d["notes"])


def test_weights_are_kernelbenchs(told, tmp_path):
    """The seed is set before get_init_inputs, the constructor and get_inputs each."""
    described = told(LINEAR)
    torch.manual_seed(42)
    expected = torch.nn.Linear(5, 4).weight
    assert torch.equal(described.task.make_model().fc.weight, expected)
    torch.manual_seed(42)
    expected = torch.randn(3, 5)
    assert torch.equal(described.task.make_inputs().positional[0], expected)


@pytest.fixture
def exports(monkeypatch, tmp_path_factory):
    """What was exported, with a cache to keep it in. All is imported by now, as when a server starts anew."""
    before = tmp_path_factory.mktemp("before")
    (before / "factor").write_text("1")
    describe(write(before, READS_A_FACTOR))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    made = []
    export = graph.export

    def counted(*given):
        made.append(1)
        return export(*given)

    monkeypatch.setattr(graph, "export", counted)
    return made


READS_A_FACTOR = """
    import os
    PATH = os.path.join(os.path.dirname(__file__), "factor")
    class Model(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.fc = nn.Linear(n, 4)
            self.again = self.fc
            self.factor = float(open(PATH).read())
        def forward(self, x, sizes): return self.again(x.T) * self.factor
    def get_inputs(): return [torch.randn(3, 5), (2, 3)]
    def get_init_inputs(): return [3]
"""


def test_the_same_task_is_exported_once(told, tmp_path, exports):
    (tmp_path / "factor").write_text("2")
    first = told(READS_A_FACTOR)
    second = told(READS_A_FACTOR)
    assert len(exports) == 1
    assert second.description == first.description
    assert second.description["graph"]
    assert second.plan == first.plan
    assert second.files == first.files == ["factor"]


@pytest.mark.parametrize(
    "changed", [("factor", "3"), ("task.py", "# read"), ("cache", "damaged"), ("torch", "9.0")], ids=lambda c: c[0]
)
def test_it_is_exported_again_when_something_has_changed(told, tmp_path, exports, monkeypatch, changed):
    name, value = changed
    (tmp_path / "factor").write_text("2")
    text = READS_A_FACTOR
    first = told(text).description["graph"]
    if name == "factor":
        (tmp_path / "factor").write_text(value)
    elif name == "task.py":
        text += f"    {value}\n"
    elif name == "cache":
        for kept in (pathlib.Path(os.environ["TORCHINDUCTOR_CACHE_DIR"]) / "described").iterdir():
            kept.write_text(value)
    else:
        monkeypatch.setattr(torch, "__version__", value)
    again = told(text).description["graph"]
    assert len(exports) == 2
    assert (again == first) == (name != "factor")


@pytest.mark.parametrize(
    "result",
    [
        "x * torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])",  # its values are only in an export
        "x * float(open(__file__.replace('task.py', 'late')).read())",  # read too late to be noticed next time
    ],
)
def test_what_is_not_kept(told, tmp_path, exports, result):
    (tmp_path / "late").write_text("2")
    text = f"""
        class Model(nn.Module):
            def forward(self, x): return {result}
        def get_inputs(): return [torch.randn(3, 5)]
    """
    first = told(text).description
    assert told(text).description == first
    assert len(exports) == 2


def test_what_only_takes_another_shape_is_a_view(task):
    d = task("""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.pool = nn.AdaptiveAvgPool1d(1)
            def forward(self, x): return self.pool(x.transpose(1, 2))  # torch takes it apart with as_strided
        def get_inputs(): return [torch.randn(2, 3, 4)]
    """)
    ops = [node["op"] for node in d["graph"]]
    assert "aten.view.default" in ops and "aten.as_strided.default" not in ops
