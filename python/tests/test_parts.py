"""The small parts: names, values, templates, channels."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
import torch

from pragma_torch import observe, process
from pragma_torch.areas import Areas
from pragma_torch.channel import Channel
from pragma_torch.compiling import KernelHeaders
from pragma_torch.convolutions import ConvolutionsInBlocks
from pragma_torch.errors import format_bytes, one_line, out_of_memory, task_error
from pragma_torch.lightmode import LightMode
from pragma_torch.names import Namer, identifier
from pragma_torch.plan import Leaf, Scalar, UnsupportedValue, fill, flatten
from pragma_torch.values import encode
from pragma_torch.widening import WideCasts

PYTHON = os.path.dirname(os.path.dirname(process.__file__))


@pytest.mark.parametrize(
    "path,name",
    [
        ("conv1d.weight", "conv1d_weight"),
        ("0.weight", "t_0_weight"),
        ("double", "t_double"),
        ("a-b", "a_b"),
        ("_x", "t_x"),
        ("é", "t_"),
        ("", "t_"),
        ("scratch", "t_scratch"),
        ("pragma_kernel", "t_pragma_kernel"),
    ],
)
def test_identifiers(path, name):
    assert identifier(path) == name


def test_collisions_get_suffixes():
    namer = Namer()
    assert [namer.name(p) for p in ("a.b", "a_b", "a-b", "a_b_2")] == [
        "a_b",
        "a_b_2",
        "a_b_3",
        "a_b_2_2",
    ]


def test_values():
    assert encode([1, 2.0, True, None, "s", (float("-inf"), 2**70)]) == [
        1,
        2.0,
        True,
        None,
        "s",
        [{"float": "-inf"}, float(2**70)],
    ]
    assert encode(torch.float32) == "float32" and encode(torch.device("cpu")) == "cpu"
    assert encode(float("nan")) == {"float": "nan"}


def test_templates_bring_arguments_back():
    x, y = torch.ones(2), torch.zeros(3)
    value = [x, (1, float("inf"), [y, "s"]), {"k": x, "n": None}, [1, 2], ()]
    leaves: list[Leaf] = []
    scalars: list[Scalar] = []
    template = flatten(value, "v", "args[0]", leaves, scalars)
    back = fill(template, [leaf.tensor for leaf in leaves])
    assert back[0] is x and back[1][1] == float("inf") and back[1][2][0] is y
    assert type(back[1]) is tuple and back[2] == {"k": x, "n": None} and back[3:] == [[1, 2], ()]
    assert [s.name for s in scalars] == ["v_1_0", "v_1_1", "v_1_2_1", "v_2_n", "v_3", "v_4"]
    with pytest.raises(UnsupportedValue, match=r"a\[0\] is of type set"):
        flatten([x, {1}][1:], "a", "a", [], [])


def test_descriptors_travel_with_their_line():
    a, b = socket.socketpair()
    one, two = Channel(a), Channel(b)
    read, write = os.pipe()
    one.send({"first": 1}, [write])
    one.send({"second": 2})
    received = two.receive()
    assert received is not None
    message, fds = received
    assert message == {"first": 1} and len(fds) == 1
    os.write(fds[0], b"!")
    assert os.read(read, 1) == b"!"
    assert two.receive() == ({"second": 2}, [])
    one.close()
    assert two.receive() is None


def test_memory_errors_say_how_much():
    error = RuntimeError(
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4294967296 bytes. Error"
    )
    assert out_of_memory(error) == "runs out of memory: one tensor alone needs 4 GiB"
    assert out_of_memory(ValueError("x")) is None
    assert (
        task_error("t.py", "forward", MemoryError(), "t.py").message
        == "t.py: forward runs out of memory"
    )


def test_lines():
    assert one_line("\n  first \nsecond") == "first"
    assert len(one_line("x" * 1000)) == 300
    assert [format_bytes(n) for n in (5, 2048, 3 << 30)] == ["5 B", "2 KiB", "3 GiB"]


def test_large_areas_are_not_kept_mapped(monkeypatch):
    monkeypatch.setattr(Areas, "_KEPT_BYTES", 3 << 12)
    areas = Areas()
    fds = []
    for pages in (1, 1, 2):
        fds.append(os.memfd_create("area"))
        os.ftruncate(fds[-1], pages << 12)
    small, other = areas.of(fds[0], private=False), areas.of(fds[1], private=False)
    assert areas.of(fds[0], private=False) is small
    areas.of(fds[2], private=False)  # four pages in total: the least recently used one is dropped
    assert areas.of(fds[0], private=False) is small
    assert areas.of(fds[1], private=False) is not other
    for fd in fds:
        os.close(fd)


def test_runs_are_compared_to_their_last_block(monkeypatch):
    monkeypatch.setattr(observe, "_BLOCK", 4)
    first = torch.arange(11.0)
    second = first.clone()
    assert observe._near(first, second)
    second[10] += 0.5
    assert not observe._near(first, second)
    # The tolerance depends on the largest value anywhere, as if everything were compared at once.
    first[0] = second[0] = 1e4
    assert observe._near(first, second)
    assert observe._near(torch.tensor([float("nan"), 1]), torch.tensor([float("nan"), 1]))
    assert observe._near(torch.tensor([float("nan"), 1]), torch.tensor([float("nan"), 1.0001]))
    assert not observe._near(torch.tensor([float("nan"), 1]), torch.tensor([2, 1.0001]))
    assert observe._near(torch.empty(0), torch.empty(0))


class ColumnsSeen(LightMode):
    """The bytes of the largest right-hand side of a product, and whether Torch's own convolution ran."""

    largest = 0
    own = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func in (torch.ops.aten.bmm.default, torch.ops.aten.mm.default):
            self.largest = max(self.largest, args[1].numel() * args[1].element_size())
        self.own |= func is torch.ops.aten.convolution.default and args[0].device.type == "cpu"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    "shape",
    [
        {"kernel_size": 3, "padding": 1},
        {"kernel_size": 2, "stride": 3},  # a transposed convolution in which no tap reaches some results
        {"kernel_size": 3, "stride": 2, "dilation": 3, "padding": 2, "bias": False},
    ],
)
@pytest.mark.parametrize("limit", [1, 10_000, 1 << 23])
def test_convolutions_in_blocks_are_the_same(dims, kind, groups, shape, limit):
    model = getattr(torch.nn, f"{kind}{dims}d")(4, 6, groups=groups, **shape).double()
    source = torch.randn(5, 4, *[6 if dims == 3 else 9] * dims, dtype=torch.float64)
    with torch.no_grad():
        expected = model(source)
        with ColumnsSeen() as seen, ConvolutionsInBlocks(limit):
            torch.testing.assert_close(model(source), expected, rtol=1e-13, atol=1e-13)
    row = 8 * expected.shape[-1] ** (dims - 1) * 4 * 3**dims
    assert not seen.own and seen.largest <= max(limit, row)


@pytest.mark.parametrize("transposed", [False, True])
def test_convolutions_take_one_number_for_all_axes(transposed):
    source, weight = torch.randn(2, 4, 9, 9).double(), torch.randn(4, 4, 3, 3).double()
    numbers = (None, [2, 2], [0], [1], transposed, [0], 1)
    expected = torch.ops.aten.convolution.default(source, weight, *numbers)
    with ConvolutionsInBlocks():
        torch.testing.assert_close(torch.ops.aten.convolution.default(source, weight, *numbers), expected)


def test_convolutions_of_one_point_have_no_columns():
    model = torch.nn.Conv2d(4, 6, 1).double()
    with torch.no_grad(), ColumnsSeen() as seen, ConvolutionsInBlocks():
        model(torch.randn(2, 4, 5, 5, dtype=torch.float64))
    assert seen.own


def test_a_view_that_the_strides_of_the_truth_refuse_is_a_copy():
    """Attention returns other strides in float64 than in bfloat16 on a GPU."""
    turned = torch.arange(6.0, dtype=torch.float64).view(2, 3).t()
    with pytest.raises(RuntimeError, match="view size"):
        turned.view(6)
    with torch.no_grad(), WideCasts():
        assert turned.view(6).tolist() == [0, 3, 1, 4, 2, 5]
        assert turned.t().view(6).data_ptr() == turned.data_ptr()


def test_a_reference_is_computed_without_loading_torchs_compiler():
    """The server of each evaluation would else import it, which takes as long as importing torch."""
    code = (
        "import sys, torch; from pragma_torch.convolutions import ConvolutionsInBlocks;"
        "from pragma_torch.costs import Recorder; from pragma_torch.widening import WideCasts\n"
        "with torch.no_grad(), WideCasts(), ConvolutionsInBlocks(), Recorder():\n"
        "    torch.nn.Conv1d(2, 3, 3).double()(torch.ones(1, 2, 5).double()).float()\n"
        "print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PYTHON, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_large_blocks_can_be_given_back_after_all():
    script = """
import resource, torch
from pragma_torch import process

def resident_after_use():
    torch.ones(1 << 26)  # 256 MiB
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * resource.getpagesize()

torch.ones(1)
before = resident_after_use()
assert process.keep_freed_memory()
kept = resident_after_use()
assert process.return_freed_memory()
torch.ones(1 << 27)  # in no hole of the heap
print((kept - before) >> 20, (resident_after_use() - kept) >> 20)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": PYTHON}
    )
    kept, more = map(int, done.stdout.split())
    assert kept >= 250
    assert more <= 100


@pytest.fixture
def ahead(monkeypatch, tmp_path):
    """Whether Torch would now compile headers ahead, after `choose` for a model of so many parts."""
    from torch._inductor import config

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))

    def asked(about, parts=30):
        headers = KernelHeaders(about)
        with config.patch(cpp_cache_precompile_headers=True):
            headers.choose(torch.nn.Sequential(*(torch.nn.ReLU() for _ in range(parts))))
            return headers, config.cpp_cache_precompile_headers

    return asked


def test_headers_are_compiled_ahead_for_many_kernels_that_are_new(ahead):
    headers, first = ahead("a network")
    assert first
    assert not ahead("a network", parts=2)[1]
    headers.compiled()
    assert not ahead("a network")[1]
    assert ahead("another network")[1]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(ahead, tmp_path):
    (tmp_path / "compiled").write_text("in the way")
    headers, _ = ahead("a network")
    headers.compiled()
    assert ahead("a network")[1]


def test_without_a_cache_nothing_is_known(ahead, monkeypatch):
    ahead("a network")[0].compiled()
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
    headers, first = ahead("a network")
    headers.compiled()
    assert first
