"""pragma_triton: one module in Triton's interpreter, driven as pragma drives it on a GPU; and the look at its source."""

from __future__ import annotations

import ctypes
import fcntl
import importlib.util
import json
import os
import struct
import subprocess
import sys

import pytest
import torch
from conftest import ROOT, Memory, ring_bell

from pragma_torch import control
from pragma_torch.describe import describe
from pragma_triton import no_torch
from pragma_triton.scan import scan

PAGE = 4096
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # a seccomp filter that forbids nothing
LOAD_FAILED = 1

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed beside torch"
)

TASK = """
class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(n))
    def forward(self, x):
        return x * self.scale
def get_inputs():
    return [torch.rand(4, 5)]
def get_init_inputs():
    return [5]
"""
HONEST = """
import triton
import triton.language as tl

BLOCK = 32

@triton.jit
def scale_rows(x, scale, out, count, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside) * tl.load(scale + at % n, mask=inside)
    tl.store(out + at, value, mask=inside)

def run(x, scale, out):
    count = out.numel()
    scale_rows[(triton.cdiv(count, BLOCK),)](x, scale, out, count, x.shape[1], BLOCK=BLOCK)
"""


class Candidate:
    """A process of pragma_triton with the memory that pragma would own: two sets, guards round outputs."""

    def __init__(self, harness, module: str) -> None:
        described = describe(str(harness.write(TASK)))
        self.arguments = described.plan.arguments
        (harness.folder / "plan.json").write_text(json.dumps(described.candidate_plan()))
        offsets = []
        for i in range(2):
            offsets += [PAGE * (2 * i), PAGE * (2 * i + 1), self.output_at(i)]
        self.page = Memory(1024 + 8 * len(offsets))
        struct.pack_into("II", self.page.map, 0, control.MAGIC, control.VERSION)
        struct.pack_into("IIII", self.page.map, 960, 2, 2, 1, 0)
        struct.pack_into(f"{len(offsets)}Q", self.page.map, 1024, *offsets)
        self.inputs, self.results = Memory(PAGE * 4), Memory(PAGE * 5)
        rest = Memory(PAGE), Memory(1 << 20), Memory(len(ALLOW_ALL))
        rest[2].map[:] = ALLOW_ALL
        fds = [m.fd for m in (self.page, self.inputs, self.results, *rest)]
        solution = harness.write(module, "solution.py")
        keep = harness.folder / "keep"
        keep.mkdir(exist_ok=True)

        def place() -> None:
            parked = [fcntl.fcntl(fd, fcntl.F_DUPFD, 512) for fd in fds]
            for i, fd in enumerate(parked):
                os.dup2(fd, 3 + i)
            ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS

        self.process = subprocess.Popen(
            [sys.executable, "-I", str(ROOT / "pragma_triton" / "start.py"), str(harness.folder / "plan.json"), str(solution)],
            env={"PRAGMA_KEEP": str(keep), "HOME": str(harness.folder), "TRITON_INTERPRET": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place,
        )  # fmt: skip

    @staticmethod
    def output_at(index: int) -> int:
        """Guard page, a page with an output of 80 bytes, guard page, ...; the second one lies at its end."""
        return PAGE * (2 * index + 1) + (PAGE - 128 if index == 1 else 0)

    def fill(self, seed: int) -> None:
        torch.manual_seed(seed)
        for i, argument in enumerate(self.arguments * 2):
            values = torch.rand(argument.shape).numpy().tobytes()
            self.inputs.map[PAGE * i : PAGE * i + len(values)] = values

    def ring(self, command: int, sets: tuple[int, ...] = ()) -> tuple[int, str]:
        return ring_bell(self.page, self.process.pid, command, list(sets))

    def tensor(self, memory: Memory, at: int, shape: list[int]) -> torch.Tensor:
        count = torch.Size(shape).numel()
        return torch.frombuffer(memory.map, dtype=torch.float32, count=count, offset=at).view(shape)

    def right(self, index: int) -> bool:
        x = self.tensor(self.inputs, PAGE * 2 * index, [4, 5])
        scale = self.tensor(self.inputs, PAGE * (2 * index + 1), [5])
        return torch.equal(self.tensor(self.results, self.output_at(index), [4, 5]), x * scale)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def candidate(harness):
    made: list[Candidate] = []

    def make(module: str) -> Candidate:
        made.append(Candidate(harness, module))
        return made[-1]

    yield make
    for one in made:
        one.close()


@needs_triton
def test_results_are_of_what_was_uploaded_and_come_back_by_download(candidate):
    one = candidate(HONEST)
    one.fill(1)
    assert one.ring(control.LOAD) == (control.OK, "")
    assert one.ring(control.UPLOAD, (1, 0)) == (control.OK, "")
    assert one.ring(control.RUN, (1, 0)) == (control.OK, "")
    assert not one.right(0), "nothing is brought back before DOWNLOAD"
    assert one.ring(control.DOWNLOAD, (1, 0)) == (control.OK, "")
    assert one.right(0) and one.right(1)
    one.fill(2)
    assert one.ring(control.RUN, (0,)) == (control.OK, "")
    code, said = one.ring(control.DOWNLOAD, (0,))
    assert code == control.RAISED and "wrote x" in said, "what was not uploaded is not what lies in the ring"


@needs_triton
def test_a_write_beyond_an_output_shows_in_the_memory_round_it(candidate):
    greedy = HONEST.replace("count = out.numel()", "count = out.numel() + 1")
    one = candidate(greedy.replace("tl.store(out + at, value", "tl.store(out + at, value * 0.0"))
    one.fill(1)
    assert one.ring(control.LOAD) == (control.OK, "")
    for command in (control.UPLOAD, control.RUN, control.DOWNLOAD):
        assert one.ring(command, (0, 1)) == (control.OK, "")
    for index in (0, 1):
        after = one.output_at(index) + 80
        assert any(one.results.map[after : after + 4]), "a written zero shows as well"
        assert not any(one.results.map[after + 4 : after + 64])


@needs_triton
def test_a_written_input_is_told(candidate):
    one = candidate(HONEST.replace("tl.store(out + at", "tl.store(x + at, value, mask=inside)\n    tl.store(out + at"))
    one.fill(1)
    assert one.ring(control.LOAD) == (control.OK, "")
    assert one.ring(control.UPLOAD, (0,)) == (control.OK, "")
    assert one.ring(control.RUN, (0,)) == (control.OK, "")
    code, said = one.ring(control.DOWNLOAD, (0,))
    assert (code, "wrote x; inputs" in said) == (control.RAISED, True)


@needs_triton
def test_a_run_with_other_parameters_is_told(candidate):
    one = candidate(HONEST.replace("def run(x, scale, out)", "def run(x, out)"))
    assert one.ring(control.LOAD) == (LOAD_FAILED, "run takes 2 parameters; this task has 3: x, scale, out")


def test_an_honest_module_is_let_through():
    assert scan(HONEST) == {"reject": None, "syntax": None, "notes": []}


def test_autotuning_and_several_functions_are_let_through():
    module = HONEST.replace(
        "@triton.jit",
        "CONFIGS = [triton.Config({'BLOCK': b}, num_warps=w) for b in (64, 128) for w in (2, 4)]\n"
        "def blocks(count, block):\n    return triton.cdiv(count, block)\n"
        "@triton.autotune(configs=CONFIGS, key=['count'])\n@triton.jit",
    ).replace("(triton.cdiv(count, BLOCK),)", "lambda META: (blocks(count, META['BLOCK']),)")
    assert scan(module)["reject"] is None


BEFORE = "    count = out.numel()\n"


@pytest.mark.parametrize(
    "replaced, by, said",
    [
        ("import triton\n", "import triton\nimport os\n", "imports os"),
        ("import triton\n", "import triton\nfrom torch import nn\n", "imports torch.nn"),
        ("import triton\n", "import triton, torch\nprint('hi')\n", "top level"),
        (BEFORE, "    import gc\n" + BEFORE, "import inside a function"),
        (BEFORE, BEFORE + "    x.relu_()\n", ".relu_"),
        (BEFORE, BEFORE + "    x.data_ptr()\n", ".data_ptr"),
        (BEFORE, BEFORE + "    y = x @ x\n", "@ multiplies"),
        (BEFORE, BEFORE + "    out[0] = 1\n", "only names are assigned"),
        (BEFORE, BEFORE + "    run.seen = x\n", "only names are assigned"),
        (BEFORE, BEFORE + "    global SEEN\n", "global"),
        ("import triton\n", "import triton\nfrom torch import relu\n", "imports torch.relu"),
        (BEFORE, BEFORE + "    getattr(x, 'relu')\n", "getattr is not available"),
        (BEFORE, BEFORE + "    x.__class__\n", ".__class__"),
        (BEFORE, BEFORE + "    try:\n        pass\n    except ValueError:\n        pass\n", "try"),
        (BEFORE, BEFORE + "    eval('1')\n", "eval is not available"),
        (BEFORE, BEFORE + "    scale_rows.fn(x)\n", ".fn"),
        (BEFORE, BEFORE + "    (lambda: 0)()\n", "this call"),
        (BEFORE, BEFORE + "    [x][0](1)\n", "only kernels of this file"),
        ("out):", "out, seen=[]):", "a default must be a constant"),
        ("out):\n", "out):\n    def inner():\n        pass\n", "functions inside functions"),
        ("@triton.jit", "@triton.jit(pre_run_hooks=print)", "pre_run_hooks="),
        ("def run(", "def go(", "defines no function run"),
        ("@triton.jit\n", "", "only kernels of this file"),
    ],
)  # fmt: skip
def test_what_a_module_does_not_need_is_refused_with_its_line(replaced, by, said):
    assert replaced in HONEST
    found = scan(HONEST.replace(replaced, by, 1))["reject"]
    assert found is not None and said in found and found.startswith("line "), found


def test_a_module_that_is_not_python_is_a_syntax_error():
    assert scan("def run(:\n")["syntax"]["line"] == 1


def test_torch_may_allocate_and_view_but_not_compute():
    def honest(x, out):
        torch.empty_like(x).view(-1)
        torch.zeros(3)

    no_torch.call(honest, [torch.ones(4), torch.ones(4)])
    for guilty in (lambda x, out: x + x, lambda x, out: sum([x, x]), lambda x, out: out.copy_(x)):
        with pytest.raises(no_torch.ComputesWithTorch, match="computes with torch"):
            no_torch.call(guilty, [torch.ones(4), torch.ones(4)])
