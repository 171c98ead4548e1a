"""pragma_triton: one module in Triton's interpreter, driven as pragma drives it on a GPU; and the look at its source."""

from __future__ import annotations

import ctypes
import fcntl
import importlib.util
import os
import signal
import socket
import struct
import subprocess
import sys
import types
from typing import Any

import pytest
import torch
from conftest import ROOT, Harness, Memory, ring_bell

from pragma_candidate.service import Refused
from pragma_torch import control
from pragma_torch.channel import Channel
from pragma_triton import kernels, no_torch, ptx, scramble
from pragma_triton.scan import scan

# "cuda" runs the same on a GPU instead of in the interpreter.
DEVICE = os.environ.get("PRAGMA_TEST_DEVICE", "cpu")
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # a seccomp filter that forbids nothing
LOAD_FAILED = 1

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
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


class Module:
    """A zygote of pragma_triton, and one process forked for area 0 of the server's referee."""

    def __init__(self, harness, server, module: str) -> None:
        self.server = server
        self.done("open_sets", sets=2, draws=2)
        late = Memory(len(ALLOW_ALL))
        late.map[:] = ALLOW_ALL
        ours, theirs = socket.socketpair()

        def place() -> None:
            parked = [fcntl.fcntl(fd, fcntl.F_DUPFD, 512) for fd in (theirs.fileno(), late.fd)]
            os.dup2(parked[0], 3)
            os.dup2(parked[1], 8)
            ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS

        env = {"HOME": str(harness.folder), "TMPDIR": str(harness.folder), "PATH": os.environ["PATH"]}
        env |= {"TRITON_INTERPRET": "1"} if DEVICE == "cpu" else {}
        env |= {k: v for k, v in os.environ.items() if k in ("LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH")}
        self.log = harness.folder / "zygote.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-I", str(ROOT / "pragma_triton" / "start.py")],
                env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                close_fds=False, preexec_fn=place,
            )  # fmt: skip
        theirs.close()
        self.channel = Channel(ours)
        self.page = Memory(1024)
        struct.pack_into("II", self.page.map, 0, control.MAGIC, control.VERSION)
        self.pid = self.fork(module)

    def fork(self, module: str) -> int:
        area, given = socket.socketpair()
        self.done("share_area", [given.fileno()], area=0, outputs=True)
        hello, their_hello = socket.socketpair()
        self.channel.send(
            {"op": "fork", "module": module}, [self.page.fd, area.fileno(), their_hello.fileno()]
        )
        answer = self.channel.receive()
        assert answer is not None, self.log.read_text()
        assert hello.recv(1) == b"W"
        return answer[0]["pid"]

    def done(self, op: str, fds: list[int] | None = None, **fields: Any) -> dict[str, Any]:
        reply = self.server.ask(op, fds, **fields)
        assert reply.get("ok"), reply
        return reply

    def ring(self, command: int, sets: tuple[int, ...] = ()) -> tuple[int, str]:
        return ring_bell(self.page, self.pid, command, list(sets))

    def run(self, *sets: int) -> list[dict[str, Any]]:
        """Handed over, run, compared."""
        self.done("put_sets", area=0, slots=sets, seed=5)
        assert self.ring(control.WAKE) == (control.OK, "")
        assert self.ring(control.RUN, sets) == (control.OK, "")
        return self.done("compare_sets", area=0, slots=sets)["slots"]

    def close(self) -> None:
        self.channel.close()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A harness and a server that knows the task: starting one takes seconds."""
    harness = Harness(tmp_path_factory.mktemp("triton"))
    server = harness.start("--device", DEVICE)
    assert server.ask("describe", task=str(harness.write(TASK))).get("ok")
    yield harness, server
    harness.close()


@pytest.fixture
def loaded(started):
    """Makes a Module that is loaded, with a drawn set in each slot."""
    made: list[Module] = []

    def make(module: str) -> Module:
        made.append(Module(started[0], started[1], module))
        one = made[-1]
        assert one.ring(control.LOAD) == (control.OK, ""), one.log.read_text()
        for slot in (0, 1):
            one.done("draw_set", seed=slot, draw=slot, slot=slot)
        return one

    yield make
    for one in made:
        one.close()


def wrong(slot: dict[str, Any]) -> bool:
    found = slot["outputs"][0]
    return found["max_scaled"] > 1e-5 or found["mismatched"] > 0 or found["odd_truth"] > 0


@needs_triton
def test_outputs_are_held_against_the_truth_where_they_lie(loaded):
    one = loaded(HONEST)
    for slot in one.run(1, 0):
        assert not wrong(slot) and slot["official"] and not slot["outside"] and not slot["written"]


@needs_triton
def test_refilled_sets_have_other_values_and_are_compared_with_them(loaded):
    one = loaded(HONEST)
    first = one.run(0)[0]["outputs"][0]["sum_squared"]
    one.done("renew_sets", slots=[0, 1], seed=7)
    slots = one.run(0, 1)
    assert not any(map(wrong, slots))
    assert slots[0]["outputs"][0]["sum_squared"] != first


@needs_triton
def test_an_output_that_is_not_written_is_wrong_and_not_zero(loaded):
    one = loaded(HONEST.replace("at < count", "at < 0"))
    slot = one.run(0)[0]
    assert wrong(slot) and not slot["official"]
    assert "got 0," not in slot["outputs"][0]["worst_values"]


@needs_triton
def test_the_same_outputs_are_known_again(loaded):
    one = loaded(HONEST)
    assert not one.run(0)[0]["as_kept"]
    one.done("keep_outputs", area=0, slot=0)
    one.done("restore_set", draw=0, slot=0)
    assert one.run(0)[0]["as_kept"]
    one.done("restore_set", draw=1, slot=0)
    assert not one.run(0)[0]["as_kept"]


@needs_triton
def test_a_write_beyond_an_output_shows_even_a_zero(loaded):
    greedy = HONEST.replace("at < count", "at < count + 1").replace("at, value", "at, value * 0.0")
    greedy = greedy.replace("tl.load(x + at, mask=inside)", "tl.load(x + at, mask=at < count, other=0.0)")
    assert loaded(greedy).run(1)[0]["outside"] == "out"


@needs_triton
def test_a_batterys_set_is_made_and_judged(loaded):
    one = loaded(HONEST)
    for name in ("signed", "wide_range", "integers", "one_hot", "last_only", "ties", "zeros", "infinities"):
        reply = one.done("battery_set", battery=name, rung=100.0, integer_bound=8.0, draw=0, seed=3, slot=0)
        assert reply["outputs"][0]["finite"] == (name != "infinities"), name
        assert reply["outputs"][0]["exact"] == (name in ("integers", "zeros")), name
        assert not wrong(one.run(0)[0]), name


@needs_triton
def test_what_rounding_of_the_inputs_does_is_measured(loaded):
    one = loaded(HONEST)
    one.run(0)
    asked = {"area": 0, "slot": 0, "seed": 1, "rounds": 3, "factor": 12.0, "further": 0, "further_factor": 2.0}
    asked |= {"flush": True, "adds_up": True, "ties": False}
    little = one.done("compare_conditioned", size=1e-12, **asked)["slot"]["outputs"][0]
    much = one.done("compare_conditioned", size=1e-3, **asked)["slot"]["outputs"][0]
    assert 0 <= much["max_scaled"] < little["max_scaled"] < 1e-5


@needs_triton
def test_torchs_error_on_changed_copies_of_a_set_is_measured(loaded):
    one = loaded(HONEST)
    asked = {"slot": 0, "seed": 1, "rounds": 3, "factor": 12.0, "further": 0, "further_factor": 2.0}
    asked |= {"flush": False, "adds_up": True, "ties": False}
    copies = one.done("judge_nearby", size=1e-3, **asked)["copies"]
    errors = [copy["outputs"][0]["max_scaled"] for copy in copies]
    assert len(errors) == 3 and len(set(errors)) > 1 and all(0 < error < 1e-6 for error in errors)


@needs_triton
def test_how_a_dead_process_died_is_told(loaded):
    one = loaded(HONEST)
    os.kill(one.pid, signal.SIGKILL)
    one.channel.send({"op": "end", "pid": one.pid})
    answer = one.channel.receive()
    assert answer is not None and os.WTERMSIG(answer[0]["status"]) == signal.SIGKILL


@needs_triton
def test_a_run_with_other_parameters_is_told(started):
    one = Module(started[0], started[1], HONEST.replace("def run(x, scale, out)", "def run(x, out)"))
    said = one.ring(control.LOAD)
    one.close()
    assert said == (LOAD_FAILED, "run takes 2 parameters; this task has 3: x, scale, out")


def test_an_honest_module_is_let_through():
    assert scan(HONEST) == {"reject": None, "syntax": None, "notes": []}


def test_autotuning_and_several_functions_are_let_through():
    assert scan(TUNED)["reject"] is None


TUNED = HONEST.replace(
        "@triton.jit",
        "CONFIGS = [triton.Config({'BLOCK': b}, num_warps=w) for b in (64, 128) for w in (2, 4)]\n"
        "def blocks(count, block):\n    return triton.cdiv(count, block)\n"
        "@triton.autotune(configs=CONFIGS, key=['count'])\n@triton.jit",
    ).replace("(triton.cdiv(count, BLOCK),)", "lambda META: (blocks(count, META['BLOCK']),)")


BUILT = HONEST.replace("import triton\n", "import torch\nimport triton\n", 1).replace(
    "def run(",
    "built = scale_rows.warmup(torch.float32, torch.float32, torch.float32, 20, 5, BLOCK=BLOCK, grid=(1,), num_warps=2)\n\n"
    "def run(",
).replace("scale_rows[(triton.cdiv(count, BLOCK),)](x, scale, out, count, x.shape[1], BLOCK=BLOCK)",
          "built[(triton.cdiv(count, BLOCK), 1, 1)](x, scale, out, count, x.shape[1], BLOCK)")  # fmt: skip


def test_a_kernel_may_be_compiled_with_its_module_and_launched_as_such():
    assert scan(BUILT) == {"reject": None, "syntax": None, "notes": []}


@pytest.mark.parametrize(
    "replaced, by, said",
    [
        ("num_warps=2", "pre_run_hooks=print", "pre_run_hooks="),
        ("x.shape[1], BLOCK)", "x.shape[1], BLOCK, stream=3)", "its arguments alone"),
        ("    count =", "    built.run(1)\n    count =", ".run"),
        ("    count =", "    built = scale_rows.warmup(x)\n    count =", ".warmup"),
        ("built = scale_rows.warmup(", "built = triton.warmup(", "triton.warmup"),
        ("scale_rows.warmup(torch.float32", "scale_rows.warmup(torch.cuda", "torch.cuda"),
    ],
)  # fmt: skip
def test_what_a_kernel_is_compiled_to_is_only_launched(replaced, by, said):
    assert replaced in BUILT
    found = scan(BUILT.replace(replaced, by, 1))["reject"]
    assert found is not None and said in found, found


@needs_triton
def test_a_compiled_kernel_gives_what_it_gives_when_launched_plainly(loaded):
    assert not any(map(wrong, loaded(BUILT).run(1, 0)))


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


TOP = "BLOCK = 32\n"


@pytest.mark.parametrize(
    "constant",
    [
        "N = 3", "N: tl.constexpr = 3", "N = tl.constexpr(3)", "N = -2 ** 0.5 if BLOCK > 8 else 1", "N = 'ieee'",
        "N = torch.float16", "N = tl.float32", "N = (1, (2, tl.int8), 'a')", "N = math.sqrt(2.0) * math.pi",
        "N = float('-inf')", "N = triton.next_power_of_2(700)", "N = tuple(range(3))[1]", "N = M = 1",
    ],
)  # fmt: skip
def test_plain_constants_are_let_through(constant):
    module = "import math\nimport torch\n" + HONEST.replace(TOP, TOP + constant + "\n", 1)
    assert scan(module)["reject"] is None


@pytest.mark.parametrize(
    "constant",
    [
        "KEPT = torch.zeros(1)", "KEPT = torch.empty(4, device='cuda')", "KEPT = []", "KEPT = [0, 1]", "KEPT = {}",
        "KEPT = {1}", "KEPT = (1, [2])", "KEPT = list(range(3))", "KEPT = enumerate(range(9))", "KEPT = zip((1, 2))",
        "KEPT = (i for i in range(9))", "KEPT = tuple(i for i in range(9))", "KEPT = lambda m: m", "KEPT = scale_rows",
        "KEPT = scale_rows[(1,)]", "KEPT = torch.zeros(1).view(1)", "KEPT = 1 if BLOCK else []", "KEPT: tuple = ([],)",
        "KEPT = triton.Config({})", "KEPT = tl.constexpr([])", "KEPT = OTHER = []", "KEPT = [[]][0]", "KEPT = max([1], [2])",
    ],
)  # fmt: skip
def test_what_can_change_is_no_constant_of_the_top_level(constant):
    module = "import torch\n" + HONEST.replace(TOP, TOP + constant + "\n", 1)
    found = scan(module)["reject"]
    assert found is not None and "not a plain constant" in found and "make it in run" in found, found
    assert found.startswith("line 7:"), found


@pytest.mark.parametrize(
    "replaced, by, said",
    [
        ("key=['count'])", "key=['count'], pre_hook=blocks)", "pre_hook="),
        ("key=['count'])", "key=['count'], post_hook=blocks)", "post_hook="),
        ("configs=CONFIGS, key=['count'])", "CONFIGS, ['count'], None, None, None, blocks)", "name them"),
        ("num_warps=w)", "num_warps=w, pre_hook=blocks)", "pre_hook="),
        ("{'BLOCK': b}, num_warps=w", "{'BLOCK': b}, w, 2, 1, None, blocks", "name them"),
        ("{'BLOCK': b}, num_warps=w", "*({'BLOCK': b}, w)", "name them"),
        ("    count = out", "    kept = CONFIGS\n    kept += [1]\n    count = out", "only decorators"),
        ("@triton.autotune(configs=CONFIGS", "@triton.heuristics({'N': lambda a, kept=[]: 1})\n@triton.autotune(configs=CONFIGS",
         "no defaults"),
        ("    return triton.cdiv(count, block)", "    return len(CONFIGS)", "only decorators"),
    ],
)  # fmt: skip
def test_tuning_has_no_hooks_and_its_list_is_nobody_elses(replaced, by, said):
    assert replaced in TUNED
    found = scan(TUNED.replace(replaced, by, 1))["reject"]
    assert found is not None and said in found, found


ASSEMBLY = "    value = tl.inline_asm_elementwise('mov.b32 $0, $1;', constraints='=r,r', args=[value], dtype=tl.float32, is_pure=True, pack=1)\n"


@pytest.mark.parametrize(
    "text, said",
    [
        ("'mov.u32 $0, %clock;'", "reads %clock"),
        ("'mov.u32 $0, %cl' 'ock_hi;'", "reads %clock"),
        ("asm='mov.u64 $0, %globaltimer;'", "reads %globaltimer"),
        ("'mov.u32 $0, %pm3;'", "reads %pm3"),
        ("'mov.u32 $0, %gridid;'", "reads %gridid"),
        ("'mov.u32 $0, %cl' + 'ock;'", "one string literal"),
        ("f'mov.u32 $0, %cl{BLOCK}'", "one string literal"),
        ("TEXT", "one string literal"),
        ("*('a', 'b')", "one string literal"),
        ("**TEXT", "one string literal"),
    ],
)
def test_inline_assembly_is_there_to_be_read_and_names_no_clock(text, said):
    honest = HONEST.replace("    tl.store", ASSEMBLY + "    tl.store").replace(TOP, TOP + "TEXT = 'mov'\n")
    assert scan(honest)["reject"] is None
    found = scan(honest.replace("'mov.b32 $0, $1;'", text, 1))["reject"]
    assert found is not None and said in found, found


@pytest.mark.parametrize(
    "replaced, by",
    [
        ("    tl.store", "    f = tl.inline_asm_elementwise\n    tl.store"),
        ("    tl.store", "    tl.extra.cuda.globaltimer()\n    tl.store"),
        ("import triton\n", "import triton\nfrom triton.language.extra.cuda import globaltimer\n"),
        ("import triton\n", "import triton\nfrom triton.language.extra.cuda.libdevice import clock64 as exp\n"),
    ],
)
def test_clocks_and_hidden_assembly_are_refused(replaced, by):
    found = scan(HONEST.replace(replaced, by, 1))["reject"]
    assert found is not None and ("clock" in found or "where it is named" in found), found


def ptx_of(body: str, before: str = "") -> str:
    return (
        f".version 8.7\n.target sm_90a\n.address_size 64\n{before}\n.visible .entry k(\n.param .u64 k_0\n)\n"
        f".reqntid 128, 1, 1\n{{\n.reg .b32 %r<9>;\n{body}\nret;\n}}\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "mov.u32 %r1, %clock;", "mov.u64 %rd1, %globaltimer;", "mov.u32 %r1, %pm0;", "mov.u32 %r1, %gridid;",
        "/* /* */ mov.u32 %r1, %clock; /* */ */", "// a \\\nmov.u32 %r1,%clock_hi;", "// a\rmov.u32 %r1, %clock64;",
        '.pragma "//"; mov.u32 %r1, %clock;', '.pragma "/*"; mov.u32 %r1, %clock; /* " */', "{mov.u32 %r1,%clock;}",
    ],
)  # fmt: skip
def test_a_clock_in_compiled_code_is_found_however_it_is_spelt(body):
    assert "may not look at a clock" in ptx.complaint(ptx_of(body))


@pytest.mark.parametrize(
    "body", ['.pragma "\\"; mov.u32 %r1, %clock;', "#define X", "/* no end", "mov.u32 %r1, \x01;", "\u00e4", '"a\n"']
)
def test_compiled_code_that_could_be_read_in_two_ways_is_refused(body):
    assert "no compiler writes" in ptx.complaint(ptx_of(body))


TABLE = ".global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144};\n"
AT_TABLE = "mov.u64 %rd1, __cudart_i2opi_f;\nadd.s64 %rd2, %rd1, %rd3;\n"


@pytest.mark.parametrize(
    "body, before",
    [
        ("mov.u32 %r1, %smid; nanosleep.u32 4; // %clock", ""),
        (AT_TABLE + "@%p1 ld.global.nc.u32 %r1, [%rd2];\nst.global.v2.b32 [ %rd4 ], { %r1, %r2 };", TABLE),
        ('.loc 1 2 3, function_name $L__info1, inlined_at 1 4 5\nld.global.b32 %r1, [__cudart_i2opi_f+4];', '.file 1 "/a/b.py"\n' + TABLE),
        ("call.uni __assertfail, (%rd1);", ".global .align 1 .b8 assertMessage_0[3] = {1, 2, 0};\n"),
        ("mov.b32 %r1, global_smem;", ".extern .shared .align 16 .b8 global_smem[];\n"),
    ],
)  # fmt: skip
def test_compiled_code_with_tables_and_texts_is_fine(body, before):
    assert ptx.complaint(ptx_of(body, before)) == ""


@pytest.mark.parametrize(
    "body",
    [
        AT_TABLE + "st.global.b32 [%rd2], %r1;", AT_TABLE + "atom.global.add.u32 %r1, [%rd2], 1;",
        AT_TABLE + "{ st.global.b32 [%rd2], %r1; }", AT_TABLE + "$L: { st.global.b32 [%rd2], %r1; }",
        "st.global.b32 [%rd2], %r1;" + AT_TABLE, AT_TABLE + "st.global.b64 [%rd4], %rd2;", AT_TABLE + "mov.u64 t, %rd2;",
        AT_TABLE + ".loc 1 2 3 st.global.b32 [%rd2], %r1;", AT_TABLE + "st.global.v2.b32 [%rd2], {%r1, %r2};",
        "st.global.b32 [__cudart_i2opi_f], %r1; } } {", "{ .global .u32 mine; red.global.add.u32 [mine], 1; }",
        "} .global .u32 mine; .func f() { red.global.add.u32 [mine], 1;",
    ],
)  # fmt: skip
def test_compiled_code_with_a_variable_that_it_writes_is_refused(body):
    assert "nothing may be kept" in ptx.complaint(ptx_of(body, TABLE))


def test_every_variant_of_every_kernel_is_looked_at():
    class Made:
        def __init__(self, text, spills=None):
            self.asm, self.name, self.n_spills = {"ptx": text}, "k", spills

    class Function:
        def __init__(self, *made):
            self.device_caches: dict[int, tuple[dict, dict]] = {0: ({str(i): m for i, m in enumerate(made)}, {})}

    class Tuned:
        def __init__(self, fn):
            self.fn = fn

    module = types.ModuleType("m")
    vars(module)["k"] = Tuned(Tuned(Function(Made(ptx_of("")), Made(ptx_of("mov.u32 %r1, %clock;"), 3))))
    vars(module)["built"] = Made(ptx_of(""), 8)
    assert len(kernels.compiled(module)) == 3 and kernels.local_bytes(module) == 32
    work = kernels.Kernels(-1, "")
    work._loaded = module
    with pytest.raises(Refused, match="k: its device code reads %clock"):
        work._look_at_compiled()


def test_what_torch_keeps_of_freed_blocks_is_found():
    blocks = [
        {"address": 64, "size": 512, "state": "active_allocated"},
        {"address": 576, "size": 1024, "state": "inactive"},
        {"address": 1600, "size": 448, "state": "active_pending_free"},
    ]
    assert scramble.free_blocks([{"blocks": blocks[:2]}, {"blocks": blocks[2:]}]) == [(576, 1024), (1600, 448)]


@needs_triton
def test_without_a_gpu_a_scrambled_call_is_a_call(loaded):
    one = loaded(HONEST)
    struct.pack_into("I", one.page.map, 36, 7)
    assert not any(map(wrong, one.run(0, 1)))


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


def test_the_mode_of_that_call_imports_nothing_that_compiles():
    """Seven processes of a candidate would each import it, for seconds, five of them while the GPU is locked."""
    code = (
        "import sys, torch; from pragma_triton import no_torch; "
        "no_torch.call(lambda x: torch.empty(3, device=x.device), [torch.ones(4)]); "
        "print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_a_call_starts_is_read_from_the_activity_records():
    from pragma_triton import observe

    kernel = {
        "cat": "kernel",
        "dur": 12.5,
        "args": {"grid": [2, 3, 1], "block": [128, 1, 1], "shared memory": 16, "registers per thread": 94},
    }
    events = [
        {**kernel, "name": "late k", "ts": 9},
        {**kernel, "name": "softmax", "ts": 3},
        {"cat": "cpu_op", "name": "x", "ts": 1},
    ]
    lines = observe.launches({"traceEvents": events}, {("softmax", 94): 8, ("late k", 90): 8})
    assert lines == [
        "launch 0.012500 6 128 16 0 94 8 0 softmax",
        "launch 0.012500 6 128 16 0 94 0 0 late k",
    ]


def test_an_observed_call_gets_the_drawn_inputs(tmp_path):
    from pragma_triton import observe

    whole = torch.arange(6, dtype=torch.int64)
    halves = torch.tensor([[0.5], [1.5]], dtype=torch.float16)
    file = tmp_path / "inputs"
    file.write_bytes(whole.numpy().tobytes() + b"\0" * 16 + halves.numpy().tobytes())
    plan = {
        "arguments": [
            {"dtype": "int64", "shape": [2, 3], "offset": 0},
            {"dtype": "float16", "shape": [2, 1], "offset": 64},
        ]
    }
    tensors = observe.read_inputs(plan, str(file), "cpu")
    assert torch.equal(tensors[0], whole.reshape(2, 3)) and torch.equal(tensors[1], halves)
