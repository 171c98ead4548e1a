"""Kernels in Triton in a user's model: in Triton's interpreter, or on a GPU with PRAGMA_TEST_DEVICE=cuda."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_flatten, treespec_dumps

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pragma_model.pack import pack  # noqa: E402

DEVICE = os.environ.get("PRAGMA_TEST_DEVICE", "cpu")
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
)
SCALE = """
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, w, out, count, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count) * tl.load(w + at % n, mask=at < count)
    tl.store(out + at, value, mask=at < count)


def run(x, w, out):
    scale[(1,)](x, w, out, 15, 5, BLOCK=16)
"""
# The parts of every script: a model of two modules that the kernel serves, and its package.
HEAD = """
import copy, json, sys
import torch
sys.path.insert(0, sys.argv[1] + "/fast")
import pragma_kernels as pk

DEVICE = sys.argv[2]


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(5))

    def forward(self, x):
        return x * self.w


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Scaled(), Scaled()

    def forward(self, x):
        return self.two(self.one(x))


torch.manual_seed(1)
model = Whole().to(DEVICE).eval()
x = torch.randn(3, 5, device=DEVICE)
with torch.no_grad():
    truth = model(x)
pk.apply(model, sys.argv[1] + "/fast")


def stats(path="one"):
    return pk.stats(model)[path]
"""


def request() -> dict[str, Any]:
    leaves, spec = tree_flatten(((torch.zeros(1),), {}))
    _, out_spec = tree_flatten(torch.zeros(1))

    def tensor(name: str, shape: list[int], **more: Any) -> dict[str, Any]:
        return {"name": name, "dtype": "float32", "shape": shape, "role": "input", "path": name, "complex": False} | more

    capability = ".".join(map(str, torch.cuda.get_device_capability())) if DEVICE == "cuda" else ""
    return {
        "model": "whole",
        "threads": 2,
        "device": {"type": DEVICE, "name": "the one of this machine", "capability": capability},
        "kernels": [
            {"name": "t_scale", "language": "triton", "candidate": "0123", "kernel": SCALE, "header": "", "packed_bytes": 0,
             "scratch_bytes": 0, "arguments": [tensor("x", [3, 5]), tensor("w", [5])], "outputs": [tensor("o0", [3, 5])]},
        ],
        "units": [
            {"name": "u1", "class": "Scaled", "paths": ["one", "two"], "in_spec": treespec_dumps(spec),
             "out_spec": treespec_dumps(out_spec), "leaves": [tensor("", [3, 5], argument=0)], "out_leaves": [{"result": 0}],
             "results": ["o0"], "arguments": [tensor("x", [3, 5], leaf=0), tensor("w", [5], state="w")],
             "steps": [{"kernel": "t_scale", "arguments": ["x", "w"], "results": ["o0"]}]},
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("triton_kernels")
    pack(request(), made / "fast")
    return made


def said(home: pathlib.Path, script: str) -> Any:
    """Runs a script in a process of its own, since Triton decides at its import whether it interprets."""
    interpret = {"TRITON_INTERPRET": "1"} if DEVICE == "cpu" else {}
    ran = subprocess.run(
        [sys.executable, "-c", HEAD + script, str(home), DEVICE],
        capture_output=True, text=True, timeout=300, env=os.environ | interpret,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout.strip().splitlines()[-1])


@needs_triton
def test_a_call_is_served_and_counted(home: pathlib.Path) -> None:
    script = """
with torch.inference_mode():
    got = [model(x), model(x)]
copied = copy.deepcopy(model)
with torch.no_grad():
    got.append(copied(x))
entry = stats()
pk.remove(model)
with torch.no_grad():
    same = torch.equal(model(x), truth)
print(json.dumps([all(torch.allclose(g, truth) for g in got), entry["calls"], entry["fallbacks"], entry["errors"], same]))
"""
    assert said(home, script) == [True, 2, {}, 0, True]


@needs_triton
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("model(x[:2])", "shape"),
        ("model.double()(x.double())", "dtype"),
        ("model(x.requires_grad_())", "gradient"),
        ("model.train()(x)", "training mode"),
        ("torch.func.vmap(model)(x)", "tensor type"),
    ],
)
def test_another_call_runs_the_original_and_says_why(home: pathlib.Path, what: str, reason: str) -> None:
    with_gradients = "" if reason == "gradient" else "torch.set_grad_enabled(False)\n"
    entry = said(home, f"{with_gradients}{what}\nprint(json.dumps(stats()))")
    assert entry["calls"] == 0 and list(entry["fallbacks"]) == [reason] and entry["errors"] == 0


@needs_triton
def test_autocast_runs_the_original(home: pathlib.Path) -> None:
    script = """
with torch.no_grad(), torch.autocast(DEVICE, dtype=torch.bfloat16):
    same = torch.allclose(model(x), truth)
print(json.dumps([same, stats()["fallbacks"]]))
"""
    assert said(home, script) == [True, {"autocast": 1}]


@needs_triton
def test_a_tensor_that_is_not_contiguous_is_copied_and_counted(home: pathlib.Path) -> None:
    script = """
with torch.no_grad():
    got = model.one(x.t().contiguous().t())
    wanted = x * model.one.w
print(json.dumps([torch.allclose(got, wanted), stats()["calls"], stats()["copied"]]))
"""
    assert said(home, script) == [True, 1, 1]


@needs_triton
def test_a_replaced_parameter_takes_effect(home: pathlib.Path) -> None:
    script = """
model.one.w = torch.nn.Parameter(torch.full((5,), 2.0, device=DEVICE))
with torch.no_grad():
    model.two.w.data.fill_(3.0)
    got = model(x)
print(json.dumps([torch.allclose(got, 6 * x), stats()["calls"]]))
"""
    assert said(home, script) == [True, 1]


@needs_triton
def test_torch_compile_sees_the_operator_and_opcheck_passes(home: pathlib.Path) -> None:
    script = """
compiled = torch.compile(model, fullgraph=True, backend="eager")
with torch.no_grad():
    same = torch.allclose(compiled(x), truth)
calls = stats()["calls"]
checked = torch.library.opcheck(torch.ops.pragma_kernels.t_scale.default, (x, model.one.w.detach()))
print(json.dumps([same, calls, sorted(set(checked.values()))]))
"""
    assert said(home, script) == [True, 1, ["SUCCESS"]]


def test_without_triton_the_original_runs(home: pathlib.Path) -> None:
    """The kernel's module is not imported before a call that it may serve."""
    script = """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "triton" else found(name, *more)
pk.remove(model)
from pragma_kernels import package
package._opened.clear()
pk.apply(model, sys.argv[1] + "/fast")
with torch.no_grad():
    same = torch.equal(model(x), truth)
print(json.dumps([same, stats()["fallbacks"]]))
"""
    assert said(home, script) == [True, {"triton version": 1}]


@pytest.mark.skipif(DEVICE != "cuda", reason="CUDA graphs need a GPU")
def test_calls_on_the_same_memory_are_replayed(home: pathlib.Path) -> None:
    script = """
from pragma_kernels.library import _loaded
kernel = _loaded["t_scale"][1]
right = []
with torch.no_grad():
    for at in range(6):
        x.fill_(at)
        got = model(x)
        right.append(torch.allclose(got, x * model.one.w * model.two.w))
        del got
    kept = [model(x) for _ in range(3)]  # results that live on are not written over
    right += [torch.allclose(one, x * model.one.w * model.two.w) for one in kept]
    replayed = kernel.replays
    model.one.w.data.fill_(2.0)  # in place: read afresh
    right.append(torch.allclose(model(x), x * 2 * model.two.w))
    model.one.w = torch.nn.Parameter(torch.full((5,), 3.0, device=DEVICE))
    right.append(torch.allclose(model(x), x * 3 * model.two.w))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        right += [torch.allclose(model(x), x * 3 * model.two.w) for _ in range(4)]
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        held = model(x)
    x.fill_(7)
    graph.replay()
    right.append(torch.allclose(held, x * 3 * model.two.w))
held_before = len(kernel._module.launches._graphs)
pk.remove(model)
print(json.dumps([all(right), right, replayed > 2 and held_before > 0 and not kernel._module.launches._graphs]))
"""
    all_right, each, replayed = said(home, script)
    assert all_right, each
    assert replayed


@pytest.mark.skipif(DEVICE != "cuda", reason="CUDA graphs need a GPU")
def test_calls_on_other_memory_are_replayed_there(home: pathlib.Path) -> None:
    """Each module has one graph, which is captured at its second call and moved at the six others. One tensor may be given
    twice. Torch's own kernels take structures: with one of them a graph is not moved, and serves its own memory alone."""
    script = """
from pragma_kernels import graph
from pragma_kernels.launches import Launches
from pragma_kernels.library import _loaded
kernel = _loaded["t_scale"][1]
launches = []
right = []
with torch.no_grad():
    given = [torch.randn(3, 5, device=DEVICE) for _ in range(8)]
    got = [model(x) for x in given]
    right += [torch.allclose(y, x * model.one.w * model.two.w) for x, y in zip(given, got, strict=True)]
    launches += [kernel.replays, len(kernel._module.launches._graphs)]
    w = torch.randn(5, device=DEVICE)
    outs = [torch.empty(3, 5, device=DEVICE) for _ in given]

    def copies(x, w, out):
        kernel._module.launches._run(x, w, out)
        out.t().copy_(out.t().clone().double())

    plain = Launches(copies)
    for _ in range(3):
        for x, out in zip(given, outs, strict=True):
            plain(x, w, out)
            right.append(torch.allclose(out, x * w))
    launches += [plain.replays, len(plain._graphs), plain._moves]
print(json.dumps([all(right), right, launches, graph.can_move()]))
"""
    all_right, each, launches, moves = said(home, script)
    assert all_right, each
    assert moves, "this Torch does not show its graphs"
    # The first capture shows that the copies cannot be moved, the second round of calls is captured then.
    assert launches == [2 * 6, 2, launches[2], 8, False] and launches[2] >= 8


@pytest.mark.skipif(DEVICE != "cuda", reason="CUDA graphs need a GPU")
def test_calls_are_replayed_again_after_the_kernels_were_taken_out(home: pathlib.Path) -> None:
    """Torch gives up the memory of graphs with the last of them."""
    script = """
from pragma_kernels.library import _loaded
kernel = _loaded["t_scale"][1]
replays = []
for _ in range(3):
    with torch.inference_mode():
        right = [torch.allclose(model(x), truth) for _ in range(4)]
    assert all(right), right
    replays.append(kernel.replays)
    slow = pk.slow_launches(model)
    pk.remove(model)
    torch.cuda.empty_cache()
    pk.apply(model, sys.argv[1] + "/fast")
torch.rand(3, device=DEVICE)
print(json.dumps([replays, slow]))
"""
    replays, slow = said(home, script)
    assert slow == {}
    assert replays == [4, 8, 12]  # of each module, the third and the fourth call


def test_the_structures_of_the_driver_have_their_sizes() -> None:
    import ctypes

    from pragma_kernels import graph

    assert (ctypes.sizeof(graph._Kernel), ctypes.sizeof(graph._Memset)) == (72, 40)


def test_an_address_is_found_in_its_tensor() -> None:
    from pragma_kernels import graph

    tensors = [torch.zeros(4), torch.zeros(3, dtype=torch.int64), torch.zeros(0)]
    ranges = graph.Ranges.of_tensors(tensors)
    first, second = (tensor.data_ptr() for tensor in tensors[:2])
    assert [ranges.find(at) for at in (first, first + 15, first + 16, second + 23)] == [0, 0, None, 1]
    with pytest.raises(graph._Unmovable):
        graph.Ranges.of_tensors([tensors[0], tensors[0][1:]]).find(first + 8)


@pytest.mark.skipif(DEVICE != "cuda", reason="CUDA graphs need a GPU")
@pytest.mark.parametrize("first", ["inference_mode", "no_grad"])
def test_calls_are_replayed_in_and_out_of_inference_mode(home: pathlib.Path, first: str) -> None:
    """Torch's random generator can be used after each of them."""
    script = f"""
from pragma_kernels.library import _loaded
kernel = _loaded["t_scale"][1]
with torch.{first}():
    own = torch.cuda.CUDAGraph()
    with torch.cuda.graph(own):
        held = x * 2
replays = []
for mode in (torch.no_grad, torch.inference_mode, torch.no_grad):
    with mode():
        for _ in range(6):
            model(x)
        torch.rand(3, device=DEVICE)
        replays.append(kernel.replays)
print(json.dumps([0 < replays[0] < replays[1] < replays[2], pk.slow_launches(model)]))
"""
    assert said(home, script) == [True, {}]
