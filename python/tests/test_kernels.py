"""Kernels in a user's model: packing them, and every way in which a call may be one that they were not verified for."""

from __future__ import annotations

import copy
import importlib
import json
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_flatten, treespec_dumps

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import pragma_kernels as pk  # noqa: E402
from pragma_kernels import package as package_module  # noqa: E402
from pragma_kernels.attributes import fingerprint  # noqa: E402
from pragma_kernels.library import _loaded  # noqa: E402
from pragma_model.pack import PackError, pack  # noqa: E402
from pragma_model.pack_unit import UnitText  # noqa: E402
from pragma_model.place import Place  # noqa: E402
from pragma_model.prove import Proof  # noqa: E402

THREADS = 2
MODELS = '''
import torch


class Lin(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(5, 4))
        self.register_buffer("b", torch.randn(4))

    def forward(self, x):
        return torch.relu(x @ self.w + self.b)


class Chain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = Lin()
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        y = self.drop(self.lin(x)) * 2.0
        return y + 1, y * 3


class Two(torch.nn.Module):
    def forward(self, x, *, factor=1.0, mask=None):
        if factor != 3.0:
            return x * factor
        return {"more": x + 1, "rest": [x * factor, None]}


class Passes(torch.nn.Module):
    def forward(self, bias, x):
        if bias.shape == (7,):
            return x + 1, x, bias, x
        return x + 1, x * 3, bias, x


class Packed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(5, 4))

    def forward(self, x):
        if x.dim() != 2:
            raise KeyError("the model's own error")
        return x @ self.w


class Added(torch.nn.Module):
    def forward(self, x):
        return x + torch.tensor([1.0, 2.0, 3.0, 4.0])


class Many(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.list = torch.nn.ParameterList([torch.full((1,), i / 8) for i in range(69)])

    def forward(self, x):
        for p in self.list:
            x = x + p
        return x


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.chain, self.two = Lin(), Chain(), Two()
        self.packed, self.other, self.many, self.passes, self.added = Packed(), Packed(), Many(), Passes(), Added()

    def forward(self, x):
        y = self.many(x.new_ones(x.shape[0], 4)) + self.added(self.lin(x) + self.packed(x) + self.other(x))
        found = self.two(y, factor=3.0)
        more, rest = self.chain(x)
        y, *_ = self.passes(x, more)
        return found["more"] + found["rest"][0] + y + rest
'''

HEADER = "#pragma once\n#include <cstdint>\n#include <cstddef>\n"
LIN = """\
#include "kernel.h"
#include <omp.h>
constinit const std::size_t pragma_scratch_bytes = 48;
extern "C" void pragma_kernel(const float* x, const float* w, const float* b, float* out, void* scratch) {
  float* kept = static_cast<float*>(scratch);
  if (reinterpret_cast<std::uintptr_t>(scratch) % 64 != 0) __builtin_trap();
#pragma omp parallel for
  for (int i = 0; i < 12; ++i) {
    float sum = 0;
    for (int k = 0; k < 5; ++k) sum += x[i / 4 * 5 + k] * w[k * 4 + i % 4];
    kept[i] = sum + b[i % 4];
  }
  for (int i = 0; i < 12; ++i) out[i] = kept[i] > 0 ? kept[i] : 0;
}
"""
TWO = """\
#include "kernel.h"
extern "C" void pragma_kernel(const float* x, float* more, float* times, void*) {
  for (int i = 0; i < 12; ++i) {
    more[i] = x[i] + 1;
    times[i] = x[i] * 3;
  }
}
"""
PACKED = """\
#include "kernel.h"
extern "C" void pragma_prepare(const float* w, void* packed) {
  for (int k = 0; k < 5; ++k)
    for (int j = 0; j < 4; ++j) static_cast<float*>(packed)[j * 5 + k] = w[k * 4 + j];
}
extern "C" void pragma_kernel(const float* x, const float*, float* out, const void* packed, void*) {
  const float* w = static_cast<const float*>(packed);
  for (int i = 0; i < 12; ++i) {
    out[i] = 0;
    for (int k = 0; k < 5; ++k) out[i] += x[i / 4 * 5 + k] * w[i % 4 * 5 + k];
  }
}
"""
MANY = (
    '#include "kernel.h"\nextern "C" void pragma_kernel('
    + ", ".join(f"const float* {name}" for name in ["x", *(f"p{i}" for i in range(69))])
    + ", float* out, void*) {\n  for (int i = 0; i < 12; ++i) out[i] = x[i]"
    + "".join(f" + p{i}[0]" for i in range(69))
    + ";\n}\n"
)
ADDED = """\
#include "kernel.h"
extern "C" void pragma_kernel(const float* x, const float* c, float* out, void*) {
  for (int i = 0; i < 12; ++i) out[i] = x[i] + c[i % 4];
}
"""


def kernel(name: str, source: str, arguments: dict[str, list[int]], outputs: int = 1, **more: Any) -> dict[str, Any]:
    roles = {"x": "input", "c": "constant"}
    return {
        "name": name,
        "language": "cpp",
        "candidate": "0123",
        "header": HEADER,
        "kernel": source,
        "compiler": "g++",
        "flags": ["-O2", "-fopenmp"],
        "needs": [],
        "scratch_bytes": 0,
        "packed_bytes": 0,
        "arguments": [
            {"name": n, "path": n, "role": roles.get(n, "parameter"), "dtype": "float32", "shape": shape, "constant": "", "complex": False}
            for n, shape in arguments.items()
        ],
        "outputs": [{"name": f"o{i}", "dtype": "float32", "shape": [3, 4]} for i in range(outputs)],
    } | more


def unit(name: str, kind: str, paths: list[str], call: Any, result: Any, **more: Any) -> dict[str, Any]:
    """`call` is (args, kwargs), and `result` what forward returns, both with tensors of any content."""
    leaves, in_spec = tree_flatten(call)
    out_leaves, out_spec = tree_flatten(result)
    numbers = iter(range(9)), iter(range(9))
    return {
        "name": name,
        "class": kind,
        "paths": paths,
        "in_spec": treespec_dumps(in_spec),
        "out_spec": treespec_dumps(out_spec),
        "leaves": [_tensor_leaf(v, next(numbers[0])) if isinstance(v, torch.Tensor) else {"value": v} for v in leaves],
        "out_leaves": [{"result": next(numbers[1])} if isinstance(v, torch.Tensor) else {"value": v} for v in out_leaves],
    } | more


def _tensor_leaf(value: torch.Tensor, number: int) -> dict[str, Any]:
    return {"argument": number, "dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape)}


def tensor(name: str, shape: list[int], **more: Any) -> dict[str, Any]:
    return {"name": name, "dtype": "float32", "shape": shape} | more


def request() -> dict[str, Any]:
    t, x = torch.zeros(1), tensor("x", [3, 5], leaf=0)
    wide = tensor("x", [3, 4], leaf=0)
    lin = {"kernel": "t_lin", "arguments": ["x", "w", "b"], "results": ["o0"]}
    return {
        "model": "whole",
        "threads": THREADS,
        "device": {"type": "cpu"},
        "kernels": [
            kernel("t_lin", LIN, {"x": [3, 5], "w": [5, 4], "b": [4]}, scratch_bytes=48),
            kernel("t_two", TWO, {"x": [3, 4]}, outputs=2),
            kernel("t_packed", PACKED, {"x": [3, 5], "w": [5, 4]}, packed_bytes=80),
            kernel("t_many", MANY, {"x": [3, 4]} | {f"p{i}": [1] for i in range(69)}),
            kernel("t_added", ADDED, {"x": [3, 4], "c": [4]}),
        ],
        "units": [
            unit("lin", "Lin", ["lin"], ((t,), {}), t, results=["o0"], steps=[lin],
                 arguments=[x, tensor("w", [5, 4], state="w"), tensor("b", [4], state="b")]),
            unit("chain", "Chain", ["chain"], ((t,), {}), (t, t), results=["a", "c"],
                 arguments=[x, tensor("w", [5, 4], state="lin.w"), tensor("b", [4], state="lin.b")],
                 steps=[lin, {"line": "mul = torch.ops.aten.mul.Tensor(o0, 2.0)"},
                        {"kernel": "t_two", "arguments": ["mul"], "results": ["a", "c"]}]),
            unit("two", "Two", ["two"], ((t,), {"factor": 3.0}), {"more": t, "rest": [t, None]}, results=["a", "c"],
                 arguments=[wide], steps=[{"kernel": "t_two", "arguments": ["x"], "results": ["a", "c"]}]),
            unit("packed", "Packed", ["packed", "other"], ((t,), {}), t, results=["o0"],
                 arguments=[x, tensor("w", [5, 4], state="w")],
                 steps=[{"kernel": "t_packed", "arguments": ["x", "w"], "results": ["o0"]}]),
            unit("many", "Many", ["many"], ((t,), {}), t, results=["o0"],
                 arguments=[wide, *(tensor(f"p{i}", [1], state=f"list.{i}") for i in range(69))],
                 steps=[{"kernel": "t_many", "arguments": ["x", *(f"p{i}" for i in range(69))], "results": ["o0"]}]),
            unit("passes", "Passes", ["passes"], ((t, t), {}), (t, t, t, t), results=["a", "c"],
                 arguments=[tensor("x", [3, 4], leaf=1)],
                 leaves=[tensor("", [3, 5], argument=0), tensor("", [3, 4], argument=1)],
                 out_leaves=[{"result": 0}, {"result": 1}, tensor("", [3, 5], leaf=0), tensor("", [3, 4], leaf=1)],
                 steps=[{"kernel": "t_two", "arguments": ["x"], "results": ["a", "c"]}]),
            unit("added", "Added", ["added"], ((t,), {}), t, results=["o0"],
                 arguments=[wide, tensor("c", [4], constant="c0")],
                 constants={"c0": torch.tensor([1.0, 2.0, 3.0, 4.0])},
                 steps=[{"kernel": "t_added", "arguments": ["x", "c"], "results": ["o0"]}]),
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the package in `fast` and the model in models_of_kernels.py."""
    home = tmp_path_factory.mktemp("kernels")
    (home / "models_of_kernels.py").write_text(MODELS)
    sys.path.insert(0, str(home))
    pack(request(), home / "fast")
    return home


@pytest.fixture(autouse=True)
def threads() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def models(home: pathlib.Path) -> Any:
    return importlib.import_module("models_of_kernels")


@pytest.fixture
def whole(models: Any) -> torch.nn.Module:
    torch.manual_seed(7)
    return models.Whole().eval()


X = torch.arange(15.0).reshape(3, 5) / 7 - 1


def ran(model: torch.nn.Module, path: str) -> tuple[int, dict[str, int], int]:
    entry = pk.stats(model)[path]
    return entry["calls"], entry["fallbacks"], entry["errors"]


def fell_back(model: torch.nn.Module, path: str, reason: str) -> bool:
    return ran(model, path) == (0, {reason: 1}, 0)


def same(a: Any, b: Any) -> bool:
    return torch.allclose(a, b, rtol=1e-5, atol=1e-5)


# ---- packing ----------------------------------------------------------------------------------------------------------


def test_the_package_lists_every_file_with_its_hash(home: pathlib.Path) -> None:
    manifest = json.loads((home / "fast" / "manifest.json").read_text())
    on_disk = {str(p.relative_to(home / "fast")) for p in (home / "fast").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert set(manifest["files"]) == on_disk - {"manifest.json"}
    assert {"lib/t_lin.so", "source/t_lin.cpp", "source/t_lin_op.cpp", "units/lin.py", "constants.pt", "pragma_kernels/__init__.py"} <= on_disk


def test_a_library_needs_neither_torchs_python_part_nor_a_second_openmp(home: pathlib.Path) -> None:
    text = subprocess.run(["readelf", "-d", home / "fast" / "lib" / "t_lin.so"], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED.*\[(.*?)\]", text)
    assert "libtorch_cpu.so" in needed and not [n for n in needed if "python" in n or "omp" in n]


def test_a_kernel_that_does_not_compile_is_an_error(tmp_path: pathlib.Path) -> None:
    asked = request() | {"kernels": [kernel("bad", "not C++", {"x": [4]})], "units": []}
    with pytest.raises(PackError) as error:
        pack(asked, tmp_path / "out")
    assert "kernel bad: the kernel does not compile" in error.value.line and "error:" in error.value.detail
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_other_things_is_not_replaced(tmp_path: pathlib.Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(PackError, match="is not a package"):
        pack(request(), tmp_path)
    assert (tmp_path / "mine.txt").exists()


def test_a_complex_tensor_is_passed_as_pairs_of_real_numbers() -> None:
    t = torch.zeros(1)
    made = kernel("k", "", {"x": [3, 2]})
    made["arguments"][0]["complex"] = True
    of = unit("u", "U", [""], ((t,), {}), t, results=["o0"], arguments=[tensor("x", [3, 2], leaf=0)],
              steps=[{"kernel": "k", "arguments": ["x"], "results": ["o0"]}])  # fmt: skip
    text = UnitText(of, {"k": made})
    assert "o0 = _kernel_0(torch.view_as_real(x.resolve_conj()))" in text.text()
    assert text.tensor(of["arguments"][0]) == {"name": "x", "dtype": "complex64", "shape": [3]}


def nested(args: Any, kwargs: Any) -> Any:
    """What `take` makes of a call, for a unit whose arguments are (x, [y, 2.0]) and mask=None."""
    t = torch.zeros(1)
    of = unit("u", "U", [""], ((t, [t, 2.0]), {"mask": None}), t, results=["x"], steps=[],
              arguments=[tensor("y", [1], leaf=1), tensor("x", [1], leaf=0)])  # fmt: skip
    names: dict[str, Any] = {}
    exec(UnitText(of, {}).text(), names)
    return names["take"](args, kwargs)


def test_nested_arguments_are_taken_apart() -> None:
    a, b = torch.zeros(1), torch.ones(1)
    found = nested((a, [b, 2.0]), {"mask": None})
    assert found[0] is a and found[1] is b
    for args, kwargs in [((a, [b, 2.0]), {}), ((a, (b, 2.0)), {"mask": None}), ((a, [b, 2]), {"mask": None}), ((a, [b, 2.0]), {"mask": a})]:
        assert nested(args, kwargs) is None


def test_a_fallback_keeps_no_tensor_alive(home: pathlib.Path, whole: torch.nn.Module) -> None:
    pk.apply(whole, home / "fast", only=["lin"])
    x = torch.zeros(2, 5)
    with torch.no_grad():
        whole.lin(x)
    assert sys.getrefcount(x) == 2


# ---- installing -------------------------------------------------------------------------------------------------------


def test_every_unit_serves_its_calls(home: pathlib.Path, whole: torch.nn.Module) -> None:
    with torch.no_grad():
        expected = whole(X)
        assert pk.apply(whole, home / "fast") == ["lin", "chain", "two", "packed", "other", "many", "passes", "added"]
        assert same(whole(X), expected)
        assert same(whole(X), expected)
    for path in ("lin", "chain", "two", "packed", "other", "many", "passes", "added"):
        assert ran(whole, path) == (2, {}, 0), path
    assert re.search(r"^chain +chain +2 +0 +0 +-$", pk.explain(whole), re.MULTILINE)


def test_results_have_the_form_that_forward_gives_them(home: pathlib.Path, whole: torch.nn.Module) -> None:
    pk.apply(whole, home / "fast")
    y = torch.randn(3, 4)
    with torch.no_grad():
        found = whole.two(y, factor=3.0)
    assert list(found) == ["more", "rest"] and type(found["rest"]) is list and found["rest"][1] is None
    assert torch.equal(found["more"], y + 1) and torch.equal(found["rest"][0], y * 3)
    assert ran(whole, "two") == (1, {}, 0)


def test_an_argument_that_forward_returns_is_the_same_object(home: pathlib.Path, whole: torch.nn.Module) -> None:
    pk.apply(whole, home / "fast")
    bias, x = torch.randn(3, 5), torch.randn(3, 4)
    with torch.no_grad():
        found = whole.passes(bias, x)
        assert torch.equal(found[1], x * 3) and found[2] is bias and found[3] is x
        assert ran(whole, "passes") == (1, {}, 0)
        assert torch.equal(whole.passes(torch.zeros(7), x)[1], x)  # no kernel reads the bias, but forward looks at its sizes
    assert ran(whole, "passes") == (1, {"arguments": 1}, 0)


def test_remove_leaves_the_model_as_it_was(home: pathlib.Path, whole: torch.nn.Module) -> None:
    before = {path: (type(m), dict(m.__dict__)) for path, m in whole.named_modules()}
    keys = list(whole.state_dict())
    pk.apply(whole, home / "fast")
    assert list(whole.state_dict()) == keys
    with torch.no_grad():
        whole(X)
    assert pk.remove(whole) == ["lin", "chain", "two", "packed", "other", "many", "passes", "added"]
    after = {path: (type(m), dict(m.__dict__)) for path, m in whole.named_modules()}
    assert after == before and pk.stats(whole) == {} and pk.remove(whole) == []


def test_a_second_package_is_refused_until_the_first_is_removed(home: pathlib.Path, whole: torch.nn.Module) -> None:
    pk.apply(whole, home / "fast", only=["lin"])
    with pytest.raises(pk.PackageError, match="already has kernels"):
        pk.apply(whole, home / "fast", only=["packed"])
    pk.remove(whole)
    assert pk.apply(whole, home / "fast", paths=["other", "lin"]) == ["lin", "other"]


def test_modules_that_do_not_fit_are_listed_with_the_reason(home: pathlib.Path, whole: torch.nn.Module, models: Any) -> None:
    whole.lin.w = torch.nn.Parameter(torch.randn(5, 6))
    whole.two = models.Packed()
    whole.added = whole.packed
    del whole.other
    done = pk.apply(whole, home / "fast")
    assert done == ["chain", "packed", "many", "passes"]
    assert done.refused["lin"] == "w is [5, 6], not [5, 4]"
    assert done.refused["two"] == "it is a Packed, not a Two"
    assert done.refused["other"] == "the model has no such module"
    assert pk.stats(whole)["lin"]["refused"] == "w is [5, 6], not [5, 4]"
    assert "not installed: it is a Packed" in pk.explain(whole)


def test_a_module_with_other_attributes_is_not_installed(home: pathlib.Path, whole: torch.nn.Module, tmp_path: pathlib.Path) -> None:
    shutil.copytree(home / "fast", tmp_path / "fast")
    path = tmp_path / "fast" / "manifest.json"
    manifest = json.loads(path.read_text())
    entry = next(unit for unit in manifest["units"] if unit["name"] == "chain")
    entry["attributes"] = {"chain": fingerprint(whole.chain)}
    path.write_text(json.dumps(manifest))
    assert "chain" in pk.apply(whole, tmp_path / "fast")
    pk.remove(whole)
    whole.chain.drop.p = 0.25
    done = pk.apply(whole, tmp_path / "fast")
    assert done.refused["chain"] == "its attributes are not those of the module that was packed"


def test_a_shared_module_is_installed_once(home: pathlib.Path, whole: torch.nn.Module) -> None:
    whole.other = whole.packed
    done = pk.apply(whole, home / "fast", only="packed")
    assert done == ["packed"] and "same module as packed" in done.refused["other"]


def test_a_model_without_any_fitting_module_is_an_error(home: pathlib.Path) -> None:
    with pytest.raises(pk.PackageError, match="nothing for this model: lin: the model has no such module"):
        pk.apply(torch.nn.Linear(2, 2), home / "fast")


def test_unknown_names_are_errors(home: pathlib.Path, whole: torch.nn.Module) -> None:
    with pytest.raises(pk.PackageError, match="no kernels for the unit 'nothing'"):
        pk.apply(whole, home / "fast", only=["nothing"])
    with pytest.raises(pk.PackageError, match="no kernels for the module 'nowhere'"):
        pk.apply(whole, home / "fast", paths=["nowhere"])


@pytest.mark.parametrize("name", ["lib/t_lin.so", "units/lin.py", "constants.pt"])
def test_a_changed_file_is_refused_before_anything_is_loaded(
    home: pathlib.Path, whole: torch.nn.Module, tmp_path: pathlib.Path, name: str
) -> None:
    shutil.copytree(home / "fast", tmp_path / "fast")
    with open(tmp_path / "fast" / name, "ab") as file:
        file.write(b"\n")
    with pytest.raises(pk.PackageError, match="SHA-256 differs"):
        pk.apply(whole, tmp_path / "fast")
    (tmp_path / "fast" / name).unlink()
    with pytest.raises(pk.PackageError, match="cannot be read"):
        pk.apply(whole, tmp_path / "fast")


def test_no_folder_is_an_error(whole: torch.nn.Module, tmp_path: pathlib.Path) -> None:
    with pytest.raises(pk.PackageError, match="is not a folder of kernels"):
        pk.apply(whole, tmp_path / "nothing")


def test_two_folders_with_the_same_kernels_serve_two_models(
    home: pathlib.Path, whole: torch.nn.Module, models: Any, tmp_path: pathlib.Path
) -> None:
    shutil.copytree(home / "fast", tmp_path / "fast")
    second = models.Whole().eval()
    pk.apply(whole, home / "fast")
    pk.apply(second, tmp_path / "fast")
    with torch.no_grad():
        whole(X)
        assert same(second.packed(X), X @ second.packed.w)
    assert ran(whole, "packed") == ran(second, "packed") == (1, {}, 0) and ran(second, "lin") == (0, {}, 0)


def test_another_build_of_a_loaded_kernel_is_refused(home: pathlib.Path, whole: torch.nn.Module, monkeypatch: Any) -> None:
    pk.apply(whole, home / "fast")
    pk.remove(whole)
    monkeypatch.setattr(package_module, "_opened", {})
    monkeypatch.setitem(_loaded, "t_lin", ("another", _loaded["t_lin"][1]))
    with pytest.raises(pk.PackageError, match="another build of kernel t_lin is already loaded"):
        pk.apply(whole, home / "fast")


@pytest.mark.parametrize(("change", "reason"), [
    (("needs", ["avx9000"]), "processor"), (("machine", "pdp11"), "processor"), (("oldest_torch", [99, 0]), "torch version"),
])  # fmt: skip
def test_where_kernels_cannot_run_the_original_does(
    home: pathlib.Path, whole: torch.nn.Module, tmp_path: pathlib.Path, change: tuple[str, Any], reason: str
) -> None:
    shutil.copytree(home / "fast", tmp_path / "fast")
    manifest = json.loads((tmp_path / "fast" / "manifest.json").read_text())
    for entry in [manifest, *manifest["kernels"]]:
        entry[change[0]] = change[1]
    (tmp_path / "fast" / "manifest.json").write_text(json.dumps(manifest))
    with torch.no_grad():
        expected = whole(X)
        pk.apply(whole, tmp_path / "fast")
        assert torch.equal(whole(X), expected)
    assert fell_back(whole, "lin", reason) and fell_back(whole, "chain", reason)


# ---- calls that a kernel may not serve ----------------------------------------------------------------------------------


@pytest.fixture
def lin(home: pathlib.Path, whole: torch.nn.Module) -> Any:
    pk.apply(whole, home / "fast")
    return whole.lin


def own(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
    return type(module).forward(module, *args, **kwargs)


def test_gradients_come_from_the_original(whole: torch.nn.Module, lin: Any) -> None:
    lin(X).sum().backward()
    assert lin.w.grad is not None and fell_back(whole, "lin", "gradient")


def test_grad_mode_without_anything_to_differentiate_is_served(whole: torch.nn.Module, lin: Any) -> None:
    lin.requires_grad_(False)
    assert same(lin(X), own(lin, X)) and ran(whole, "lin") == (1, {}, 0)
    x = X.clone().requires_grad_()
    lin(x).sum().backward()
    assert x.grad is not None and ran(whole, "lin") == (1, {"gradient": 1}, 0)


@pytest.mark.parametrize("call", [
    lambda m: m(X[:2]), lambda m: m(X.double().float().reshape(1, 3, 5)),
])  # fmt: skip
@torch.no_grad()
def test_other_shapes(whole: torch.nn.Module, lin: Any, call: Any) -> None:
    call(lin)
    assert fell_back(whole, "lin", "shape")
    assert "lin: shape: x is [" in pk.explain(whole)


@torch.no_grad()
def test_other_types(whole: torch.nn.Module, lin: Any) -> None:
    whole.double()
    assert lin(X.double()).dtype == torch.float64 and fell_back(whole, "lin", "dtype")
    whole.bfloat16()
    assert lin(X.bfloat16()).dtype == torch.bfloat16
    whole.float()
    assert same(lin(X), own(lin, X)) and ran(whole, "lin") == (1, {"dtype": 2}, 0)


@torch.no_grad()
def test_other_devices(whole: torch.nn.Module, lin: Any) -> None:
    whole.to("meta")
    assert lin(X.to("meta")).device.type == "meta" and fell_back(whole, "lin", "device")


@torch.no_grad()
def test_training_mode(whole: torch.nn.Module, lin: Any) -> None:
    lin.train()
    assert torch.equal(lin(X), own(lin, X)) and fell_back(whole, "lin", "training mode")
    whole.eval()
    whole.chain.drop.train()  # dropout at inference, which a kernel would leave out
    whole.chain(X)
    assert fell_back(whole, "chain", "training mode")


@torch.no_grad()
def test_autocast(whole: torch.nn.Module, lin: Any) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert lin(X).dtype == own(lin, X).dtype
    assert fell_back(whole, "lin", "autocast")


@torch.no_grad()
def test_other_numbers_of_threads(whole: torch.nn.Module, lin: Any) -> None:
    torch.set_num_threads(1)
    assert torch.equal(lin(X), own(lin, X)) and fell_back(whole, "lin", "threads")


@pytest.mark.parametrize(("args", "kwargs"), [
    ((), {}), ((), {"factor": 2.0}), ((), {"factor": 3}), ((), {"factor": 3.0, "mask": None}), ((), {"mask": None}),
])  # fmt: skip
@torch.no_grad()
def test_other_arguments(whole: torch.nn.Module, lin: Any, args: Any, kwargs: Any) -> None:
    y = torch.randn(3, 4)
    assert str(whole.two(y, *args, **kwargs)) == str(own(whole.two, y, *args, **kwargs))
    assert fell_back(whole, "two", "arguments")


@torch.no_grad()
def test_an_argument_by_its_name_is_another_form_of_call(whole: torch.nn.Module, lin: Any) -> None:
    assert torch.equal(lin(x=X), own(lin, X)) and fell_back(whole, "lin", "arguments")
    with pytest.raises(TypeError):
        lin(3)
    assert ran(whole, "lin") == (0, {"arguments": 2}, 0)


class Mine(torch.Tensor):
    pass


@torch.no_grad()
def test_tensors_of_other_kinds(whole: torch.nn.Module, lin: Any) -> None:
    assert type(lin(X.as_subclass(Mine))) is Mine
    lin(X.to_sparse())
    assert ran(whole, "lin") == (0, {"tensor type": 2}, 0)


@torch.no_grad()
def test_transforms_of_torch_func(whole: torch.nn.Module, lin: Any) -> None:
    many = torch.stack([X, X + 1])
    assert same(torch.vmap(lin)(many), own(lin, many)) and fell_back(whole, "lin", "tensor type")
    value, tangent = torch.func.jvp(lin, (X,), (torch.ones_like(X),))
    assert same(value, own(lin, X)) and tangent.abs().sum() > 0
    gradient = torch.func.grad(lambda x: lin(x).sum())(X)
    assert gradient.abs().sum() > 0
    assert ran(whole, "lin")[0] == 0


def test_dual_tensors_keep_their_tangents(whole: torch.nn.Module, lin: Any) -> None:
    forward_ad = torch.autograd.forward_ad
    with torch.no_grad(), forward_ad.dual_level():
        out = lin(forward_ad.make_dual(X, torch.ones_like(X)))
        assert forward_ad.unpack_dual(out).tangent is not None
    assert fell_back(whole, "lin", "gradient")


@torch.no_grad()
def test_modes_see_the_models_own_operators(whole: torch.nn.Module, lin: Any) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.overrides import BaseTorchFunctionMode
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        lin(X)
    assert counter.get_total_flops() > 0
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        lin(mode.from_tensor(X))
    with BaseTorchFunctionMode():
        lin(X)
    assert ran(whole, "lin") == (0, {"tensor type": 3}, 0)


@torch.no_grad()
def test_functional_call_uses_the_tensors_given(whole: torch.nn.Module, lin: Any) -> None:
    given = {"w": torch.randn(5, 4), "b": torch.randn(4)}
    expected = torch.relu(X @ given["w"] + given["b"])
    assert same(torch.func.functional_call(lin, given, (X,)), expected) and ran(whole, "lin") == (1, {}, 0)


@torch.no_grad()
def test_jit_trace_records_the_models_own_operators(whole: torch.nn.Module, lin: Any) -> None:
    traced = torch.jit.trace(lin, (X,), check_trace=False)
    assert "pragma_kernels" not in str(traced.inlined_graph) and fell_back(whole, "lin", "tensor type")


def test_export_has_the_models_own_operators(whole: torch.nn.Module, lin: Any) -> None:
    program = torch.export.export(whole, (X,))
    assert "pragma_kernels" not in str(program.graph)


@torch.no_grad()
def test_inputs_that_are_not_contiguous_or_not_aligned_are_copied(whole: torch.nn.Module, lin: Any) -> None:
    strided = X.t().contiguous().t()
    shifted = torch.cat([torch.zeros(1), X.flatten()])[1:].reshape(3, 5)
    assert same(lin(strided), own(lin, X)) and same(lin(shifted), own(lin, X))
    assert ran(whole, "lin") == (2, {}, 0) and pk.stats(whole)["lin"]["copied"] == 2
    lin(X.clone())
    assert pk.stats(whole)["lin"]["copied"] == 2 and pk.stats(whole)["chain"]["copied"] == 0


@torch.no_grad()
def test_an_error_of_the_model_is_its_own(whole: torch.nn.Module, lin: Any) -> None:
    with pytest.raises(KeyError, match="the model's own error"):
        whole.packed(torch.zeros(5))
    assert fell_back(whole, "packed", "shape")


@torch.no_grad()
def test_a_failure_of_ours_is_counted_and_the_original_runs(whole: torch.nn.Module, lin: Any, monkeypatch: Any) -> None:
    def broken(*_: Any) -> None:
        raise OSError("broken")

    served = lin.forward.__self__
    monkeypatch.setattr(served, "_call", broken)
    assert torch.equal(lin(X), own(lin, X)) and ran(whole, "lin") == (0, {}, 1)
    assert "lin: error: OSError: broken" in pk.explain(whole)


# ---- modules that were changed afterwards ---------------------------------------------------------------------------------


def hooked(chain: Any) -> None:
    chain.lin.register_forward_hook(lambda *_: None)


def pre_hooked(chain: Any) -> None:
    chain.drop.register_forward_pre_hook(lambda *_: None)


def replaced_forward(chain: Any) -> None:
    chain.lin.forward = lambda x: x[:, :4] * 0


def replaced_child(chain: Any) -> None:
    chain.drop = torch.nn.Identity()


def other_class(chain: Any) -> None:
    chain.lin.__class__ = type("Odd", (type(chain.lin),), {"forward": lambda self, x: x[:, :4]})


def parametrized(chain: Any) -> None:
    class Doubled(torch.nn.Module):
        def forward(self, w: torch.Tensor) -> torch.Tensor:
            return 2 * w

    torch.nn.utils.parametrize.register_parametrization(chain.lin, "w", Doubled())


def more_children(chain: Any) -> None:
    chain.lin.extra = torch.nn.Identity()


@pytest.mark.parametrize("change", [
    hooked, pre_hooked, replaced_forward, replaced_child, other_class, parametrized, more_children,
])  # fmt: skip
@torch.no_grad()
def test_changes_inside_a_unit_are_noticed(home: pathlib.Path, whole: torch.nn.Module, change: Any) -> None:
    pk.apply(whole, home / "fast", only=["chain"])
    whole.chain(X)
    change(whole.chain)
    found, expected = whole.chain(X), own(whole.chain, X)
    assert torch.equal(found[0], expected[0]) and ran(whole, "chain") == (1, {"hooks": 1}, 0)


@torch.no_grad()
def test_hooks_for_all_modules_are_noticed(whole: torch.nn.Module, lin: Any) -> None:
    seen: list[str] = []
    handle = torch.nn.modules.module.register_module_forward_hook(lambda m, *_: seen.append(type(m).__name__))
    try:
        whole.chain(X)
    finally:
        handle.remove()
    assert "Dropout" in seen and ran(whole, "chain")[1] == {"hooks": 1}


@torch.no_grad()
def test_hooks_on_the_unit_itself_run(whole: torch.nn.Module, lin: Any) -> None:
    lin.register_forward_hook(lambda module, args, out: out + 100)
    assert (lin(X) >= 100).all() and ran(whole, "lin") == (1, {}, 0)


@torch.no_grad()
def test_a_unit_inside_another_is_no_change(home: pathlib.Path, whole: torch.nn.Module) -> None:
    pk.apply(whole, home / "fast", only=["chain"])
    from pragma_kernels.installed import install, installed

    held = installed(whole.chain)
    assert held is not None
    install(str(home / "fast"), [pk.apply.__globals__["open_package"](home / "fast").units["lin"]], "chain.lin", whole.chain.lin, {})
    whole.chain(X)
    assert ran(whole, "chain") == (1, {}, 0) and ran(whole, "chain.lin") == (0, {}, 0)


# ---- weights ------------------------------------------------------------------------------------------------------------


def by_data(module: Any) -> None:
    module.w.data = torch.randn(5, 4)


def inside(module: Any) -> None:
    module.w.data[2, 3] += 1


def anew(module: Any) -> None:
    module.w = torch.nn.Parameter(torch.randn(5, 4))


def loaded(module: Any) -> None:
    module.load_state_dict({"w": torch.randn(5, 4)}, strict=False)


def assigned(module: Any) -> None:
    module.load_state_dict({"w": torch.randn(5, 4)}, strict=False, assign=True)


def transposed(module: Any) -> None:
    module.w.data = torch.randn(4, 5).t()


@pytest.mark.parametrize("change", [by_data, inside, anew, loaded, assigned, transposed])
@pytest.mark.parametrize("path", ["lin", "packed"])
@torch.no_grad()
def test_changed_weights_are_used_at_once(whole: torch.nn.Module, lin: Any, change: Any, path: str) -> None:
    module = whole.get_submodule(path)
    assert same(module(X), own(module, X))
    change(module)
    assert same(module(X), own(module, X)) and ran(whole, path) == (2, {}, 0)


@torch.no_grad()
def test_tied_weights(whole: torch.nn.Module, lin: Any) -> None:
    whole.other.w = whole.packed.w
    whole.packed.w.data.mul_(2)
    assert same(whole.other(X), X @ whole.packed.w) and torch.equal(whole.other(X), whole.packed(X))


def test_weights_that_are_inference_tensors(home: pathlib.Path, models: Any) -> None:
    with torch.inference_mode():
        model = models.Whole().eval()
        pk.apply(model, home / "fast")
        for _ in range(2):
            assert same(model.packed(X), own(model.packed, X))
            model.packed.w.mul_(3)  # no version counter says so
        assert same(model.packed(X), own(model.packed, X)) and model.packed(X).is_inference()
    assert ran(model, "packed") == (4, {}, 0)


@torch.no_grad()
def test_packed_weights_are_given_back(home: pathlib.Path, whole: torch.nn.Module, models: Any) -> None:
    pk.apply(whole, home / "fast")
    kernel = _loaded["t_packed"][1]
    before = kernel.packs()
    second = models.Whole().eval()
    pk.apply(second, home / "fast")
    for module in (whole.packed, whole.other, second.packed, second.other):
        module(X)
    for _ in range(9):
        second.other.w = torch.nn.Parameter(torch.randn(5, 4))
        second.other(X)
    most = before + 4
    assert kernel.packs() <= most
    pk.remove(second)
    pk.remove(whole)
    assert kernel.packs() <= before


# ---- copies, processes, threads -------------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_deep_copy_has_its_own_weights_and_counts(whole: torch.nn.Module, lin: Any) -> None:
    whole(X)
    second = copy.deepcopy(whole)
    for module in (second.lin, second.packed):
        module.w.mul_(2)
    assert same(second.packed(X), X @ second.packed.w) and same(second.lin(X), own(second.lin, X))
    assert same(second.chain(X)[1], own(second.chain, X)[1])
    assert ran(second, "packed") == (1, {}, 0) and ran(whole, "packed") == (1, {}, 0)
    pk.remove(whole)
    assert "forward" in second.lin.__dict__ and "forward" not in whole.lin.__dict__


def test_a_model_with_kernels_is_freed_like_another(home: pathlib.Path, models: Any) -> None:
    import gc
    import weakref

    model = models.Whole().eval()
    pk.apply(model, home / "fast")
    with torch.no_grad():
        model(X)
    gone = weakref.ref(model.chain)
    gc.disable()
    try:
        del model
        assert gone() is None
    finally:
        gc.enable()


CHILD = """
    import pickle, sys, torch
    sys.path[:0] = [{home!r}, {fast!r}]
    torch.set_num_threads(2)
    import pragma_kernels as pk
    X = torch.arange(15.0).reshape(3, 5) / 7 - 1
    try:
        model = {load}
    except pk.PackageError as error:
        sys.exit(f"PackageError: {{error}}")
    with torch.no_grad():
        out = model(X)
    pools = {{line.split()[-1] for line in open("/proc/self/maps") if "libgomp" in line or "libiomp" in line or "libomp" in line}}
    entry = pk.stats(model)["chain"]
    pk.remove(model)
    print(entry["calls"], len(pools), torch.allclose(out, model(X), rtol=1e-5, atol=1e-5))
"""


def child(home: pathlib.Path, load: str) -> subprocess.CompletedProcess[str]:
    text = textwrap.dedent(CHILD).format(home=str(home), fast=str(home / "fast"), load=load)
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=home)


def test_a_pickled_model_works_in_another_process_with_one_pool_of_threads(home: pathlib.Path, whole: torch.nn.Module, lin: Any) -> None:
    (home / "model.pickle").write_bytes(pickle.dumps(whole))
    done = child(home, "pickle.load(open('model.pickle', 'rb'))")
    assert done.stdout.split() == ["1", "1", "True"], done.stderr


def test_a_saved_model_without_its_folder_is_a_clear_error(home: pathlib.Path, whole: torch.nn.Module, tmp_path: pathlib.Path) -> None:
    shutil.copytree(home / "fast", tmp_path / "fast")
    pk.apply(whole, tmp_path / "fast")
    torch.save(whole, tmp_path / "model.pt")
    again = torch.load(tmp_path / "model.pt", weights_only=False)
    with torch.no_grad():
        assert same(again.lin(X), own(again.lin, X)) and ran(again, "lin") == (1, {}, 0)
    shutil.rmtree(tmp_path / "fast")
    done = child(home, f"torch.load({str(tmp_path / 'model.pt')!r}, weights_only=False)")
    assert "PackageError" in done.stderr and "is not a folder of kernels" in done.stderr


@torch.no_grad()
def test_threads_at_once(whole: torch.nn.Module, lin: Any) -> None:
    inputs = [X + i for i in range(4)]
    expected = [type(whole).forward(whole, x) for x in inputs]
    wrong: list[int] = []

    def work(i: int) -> None:
        with torch.no_grad():
            wrong.extend(i for _ in range(50) if not same(whole(inputs[i]), expected[i]))

    before = pk.stats(whole)["lin"]["calls"]
    started = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert wrong == [] and ran(whole, "lin") == (before + 200, {}, 0)


class Served(torch.utils.data.Dataset):
    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> Any:
        with torch.no_grad():
            return self._model(X + i), pk.stats(self._model)["lin"]["fallbacks"].get("threads", 0)


@torch.no_grad()
def test_workers_of_a_data_loader(whole: torch.nn.Module, lin: Any) -> None:
    whole(X)
    expected = [own(whole, X + i) for i in range(2)]
    for i, (out, fallbacks) in enumerate(torch.utils.data.DataLoader(Served(whole), num_workers=1, batch_size=None)):
        assert same(out, expected[i]) and fallbacks == i + 1  # Torch gives each worker one thread


def test_the_signature_is_the_models_own(whole: torch.nn.Module, lin: Any) -> None:
    import inspect

    assert str(inspect.signature(whole.two.forward)) == "(x, *, factor=1.0, mask=None)"
    again = pickle.loads(pickle.dumps(whole))
    assert str(inspect.signature(again.two.forward)) == "(x, *, factor=1.0, mask=None)"


# ---- torch.compile --------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_compiled_model_uses_the_operators(whole: torch.nn.Module, lin: Any) -> None:
    expected = own(whole, X)
    before = pk.stats(whole)["lin"]["calls"]
    compiled = torch.compile(whole, fullgraph=True, backend="aot_eager")
    assert same(compiled(X), expected) and same(compiled(X), expected)
    for path in ("lin", "chain", "two", "packed", "other", "many", "passes", "added"):
        assert pk.stats(whole)[path]["calls"] == before + 2, path
    whole.packed.w.data.mul_(2)
    assert same(compiled(X), own(whole, X))
    torch.compiler.reset()


@torch.no_grad()
def test_a_module_compiled_by_inductor_uses_the_operator(whole: torch.nn.Module, lin: Any) -> None:
    compiled = torch.compile(whole.packed, fullgraph=True)
    assert same(compiled(X), own(whole.packed, X)) and same(compiled(X + 1), own(whole.packed, X + 1))
    assert ran(whole, "packed") == (2, {}, 0) and ran(whole, "other") == (0, {}, 0)
    torch.compiler.reset()


def test_a_compiled_model_has_the_original_where_it_must(whole: torch.nn.Module, lin: Any) -> None:
    compiled = torch.compile(whole, fullgraph=True, backend="aot_eager")
    compiled(X).sum().backward()
    assert lin.w.grad is not None
    with torch.no_grad():
        torch.set_num_threads(1)
        assert same(compiled(X), own(whole, X))
        torch.set_num_threads(THREADS)
        assert same(compiled(X[:2]), own(whole, X[:2]))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            compiled(X)
    assert pk.stats(whole)["lin"]["calls"] == 0
    torch.compiler.reset()


def test_opcheck_accepts_every_operator(whole: torch.nn.Module, lin: Any) -> None:
    w, b = torch.randn(5, 4), torch.randn(4)
    y = torch.randn(3, 4)
    given = {"t_lin": (X, w, b), "t_two": (y,), "t_packed": (X, w), "t_added": (y, b)}
    for name, tensors in given.items():
        torch.library.opcheck(getattr(torch.ops.pragma_kernels, name).default, tensors)


# ---- what served a call -------------------------------------------------------------------------------------------------


def test_by_unit_says_what_served_the_calls(home: pathlib.Path, whole: torch.nn.Module) -> None:
    pk.apply(whole, home / "fast", only=["lin", "two"])
    with torch.no_grad():
        whole(X)
        whole.lin(X[:2])
    found = pk.by_unit(whole)
    assert found["lin"] == {"calls": 1, "errors": 0, "why": "shape"}
    assert found["two"] == {"calls": 1, "errors": 0, "why": ""}


@pytest.mark.parametrize(("rows", "unserved"), [(3, {}), (2, {"lin": "it serves no call of the model: shape"})])
def test_a_proof_names_the_units_that_do_not_compute(
    home: pathlib.Path, models: Any, rows: int, unserved: dict[str, str]
) -> None:
    file = home / f"proved_{rows}.py"
    file.write_text(
        "import torch\nfrom models_of_kernels import Lin\n\n\nclass Own(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.lin = Lin()\n\n"
        "    def forward(self, x):\n        return self.lin(x)\n\n\n"
        f"def build():\n    return Own()\n\n\ndef inputs():\n    return [(torch.randn({rows}, 5),)]\n"
    )
    found = Proof(str(file), home / "fast", Place("cpu"), lambda phase: None).check({"units": ["lin"]})
    assert found["unserved"] == unserved
    assert found["errors"][0]["error"] < 1e-5
