"""pragma_candidate: one solution on a ring, driven as pragma drives it (without jail and filter)."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import pathlib
import struct
import subprocess
import sys

import pytest
import torch
from conftest import ROOT, Memory, has_died, ring_bell

from pragma_candidate import keep, outputs
from pragma_candidate.scan import scan
from pragma_torch import control
from pragma_torch.describe import describe

TASK = """
class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 3)
    def forward(self, x, scale):
        return self.fc(x) * scale, x.argmax(dim=1)
def get_inputs():
    return [torch.rand(4, 5), 2.0]
def get_init_inputs():
    return [5]
"""
HONEST = """
class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 3)
    def forward(self, x, scale):
        return torch.addmm(self.fc.bias, x, self.fc.weight.t()) * scale, x.argmax(dim=1)
"""
PAGE = 16384
ALLOW_ALL = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)  # a seccomp filter that forbids nothing
LOAD_FAILED, WRONG_FORM = 1, 4


class Candidate:
    """A process of pragma_candidate, with the memory that pragma would own."""

    def __init__(self, harness, task: str, solution: str, sets: int = 2, flags: list[str] = ()) -> None:  # type: ignore[assignment]
        self.flags = [*flags]
        self.described = describe(str(harness.write(task)))
        plan = self.described.candidate_plan()
        self.outputs = plan["outputs"]
        self.arguments = self.described.plan.arguments
        (harness.folder / "plan.json").write_text(json.dumps(plan))
        width = len(self.arguments) + len(self.outputs)
        self.page = Memory(5120 + 8 * sets * width)
        struct.pack_into("II", self.page.map, 0, control.MAGIC, control.VERSION)
        struct.pack_into("IIII", self.page.map, 960, sets, len(self.arguments), len(self.outputs), 0)
        # Each tensor has a page of its own, and all sets are contiguous.
        offsets = []
        for i in range(sets):
            offsets += [PAGE * (i * len(self.arguments) + k) for k in range(len(self.arguments))]
            offsets += [PAGE * (i * len(self.outputs) + k) for k in range(len(self.outputs))]
        struct.pack_into(f"{len(offsets)}Q", self.page.map, 5120, *offsets)
        self.inputs = Memory(PAGE * sets * len(self.arguments))
        self.results = Memory(PAGE * sets * len(self.outputs))
        self.scratch, self.keep, self.filter = Memory(PAGE), Memory(1 << 20), Memory(len(ALLOW_ALL))
        self.filter.map[:] = ALLOW_ALL
        self.folder = harness.folder
        self.solution = harness.write(solution, "solution.py")
        self.process = self.start()

    def start(self) -> subprocess.Popen:
        fds = [m.fd for m in (self.page, self.inputs, self.results, self.scratch, self.keep, self.filter)]
        script = ROOT / "pragma_candidate" / "start.py"
        keep_folder = self.folder / f"keep-{len(list(self.folder.glob('keep-*')))}"
        keep_folder.mkdir()

        def place() -> None:
            parked = [fcntl.fcntl(fd, fcntl.F_DUPFD, 512) for fd in fds]
            for i, fd in enumerate(parked):
                os.dup2(fd, 3 + i)
            ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS

        return subprocess.Popen(
            [sys.executable, "-I", str(script), *self.flags, str(self.folder / "plan.json"), str(self.solution)],
            env={"PRAGMA_KEEP": str(keep_folder), "HOME": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place,
        )

    def fill(self, seed: int) -> None:
        torch.manual_seed(seed)
        for i, argument in enumerate(self.arguments * 2):
            values = torch.rand(argument.shape)
            self.inputs.map[PAGE * i : PAGE * i + argument.bytes] = values.numpy().tobytes()

    def ring(self, command: int, sets: list[int] = ()) -> tuple[int, str]:  # type: ignore[assignment]
        return ring_bell(self.page, self.process.pid, command, sets)

    def load(self) -> tuple[int, str]:
        return self.ring(control.LOAD)

    def run(self, sets: list[int], repeat: int = 0) -> tuple[int, str]:
        return ring_bell(self.page, self.process.pid, control.RUN, sets, repeat)

    def result(self, index: int) -> torch.Tensor:
        number = index % len(self.outputs)
        dtype = {"float32": torch.float32, "int64": torch.int64}[self.outputs[number]["dtype"]]
        shape = self.outputs[number]["shape"]
        count = torch.Size(shape).numel()
        return torch.frombuffer(self.results.map, dtype=dtype, count=count, offset=PAGE * index).view(shape).clone()

    def expected(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        tensors = [
            torch.frombuffer(
                self.inputs.map,
                dtype=torch.float32,
                count=a.elements,
                offset=PAGE * (index * len(self.arguments) + k),
            ).view(a.shape)
            for k, a in enumerate(self.arguments)
        ]
        x, weight, bias = tensors
        return torch.nn.functional.linear(x, weight, bias) * 2.0, x.argmax(dim=1)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def candidate(harness):
    made: list[Candidate] = []

    def make(solution: str, task: str = TASK, flags: list[str] = ()) -> Candidate:  # type: ignore[assignment]
        made.append(Candidate(harness, task, solution, flags=flags))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_results_follow_every_refill_of_inputs_and_parameters(candidate):
    one = candidate(HONEST)
    one.fill(1)
    assert one.load() == (control.OK, "")
    for seed in (1, 2):
        one.fill(seed)
        assert one.run([1, 0])[0] == control.OK
        for index in (0, 1):
            values, places = one.expected(index)
            assert torch.allclose(one.result(2 * index), values)
            assert torch.equal(one.result(2 * index + 1), places)


def test_of_a_loop_only_the_last_result_is_kept_and_copied_when_it_is_delivered(candidate):
    one = candidate(HONEST, flags=["--allocator", "keep"])
    one.fill(1)
    assert one.load() == (control.OK, "")
    assert one.run([0], repeat=3) == (control.OK, "")
    assert not one.result(0).any()
    assert one.ring(control.DELIVER, [0]) == (control.OK, "")
    assert not one.result(2).any()
    torch.testing.assert_close(one.result(0), one.expected(0)[0])
    assert torch.equal(one.result(1), one.expected(0)[1])


def test_an_output_of_another_form_is_told_when_it_is_delivered(candidate):
    one = candidate(HONEST.replace("x.argmax(dim=1)", "[]"))
    assert one.load() == (control.OK, "")
    assert one.run([0], repeat=1) == (control.OK, "")
    code, said = one.ring(control.DELIVER, [0])
    assert code == WRONG_FORM and said == "forward returns 1 tensors, expected 2"


def test_parameters_are_bound_by_order_and_shape_where_names_differ(candidate):
    one = candidate(HONEST.replace("self.fc", "self.mine"))
    one.fill(1)
    assert one.load() == (control.OK, "")
    assert one.run([0])[0] == control.OK
    assert torch.allclose(one.result(0), one.expected(0)[0])


def test_a_parameter_without_a_place_is_told(candidate):
    one = candidate(HONEST.replace("nn.Linear(n, 3)", "nn.Linear(n, 3, bias=False)"))
    code, said = one.load()
    assert code == LOAD_FAILED
    assert "no place for Model's parameter fc.bias [3] float32" in said


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("* scale, x", "* scale, None, x", "returns 3 tensors, expected 2"),
        ("* scale, x", "* scale, x[:2]", "output[1] has shape [2], expected [4]"),
        ("x.argmax(dim=1)", "x.argmax(dim=1).int()", "output[1] is torch.int32, expected torch.int64"),
        ("x.argmax(dim=1)", "None", "output[1] is of type NoneType"),
        ("x.argmax(dim=1)", "x.argmax(dim=1).as_subclass(type('Lazy', (torch.Tensor,), {}))", "output[1] is of type Lazy"),
        ("x.argmax(dim=1)", "x.argmax(dim=1).to('meta')", "on meta, expected dense on cpu"),
    ],
)
def test_an_output_of_another_form_is_told(candidate, before, after, said):
    one = candidate(HONEST.replace(before, after))
    assert one.load() == (control.OK, "")
    code, message = one.run([0])
    assert code == WRONG_FORM
    assert said in message


@pytest.mark.parametrize(
    "solution, said",
    [
        ("x = 1", "defines no class ModelNew"),
        ("raise ValueError('no luck')", "raises ValueError: no luck"),
        ("import sys\nsys.exit(0)", "ends the program (exit code 0)"),
    ],
)
def test_what_cannot_be_loaded_says_why(candidate, solution, said):
    code, message = candidate(solution).load()
    assert code == LOAD_FAILED
    assert said in message


def test_an_exception_of_forward_is_told(candidate):
    one = candidate(HONEST.replace("return torch", "raise SystemExit(0)\n        return torch"))
    assert one.load() == (control.OK, "")
    assert one.run([0]) == (control.RAISED, "forward ends the program (exit code 0)")


def test_inputs_cannot_be_written(candidate):
    one = candidate(HONEST.replace("return torch", "x.zero_()\n        return torch"))
    assert one.load() == (control.OK, "")
    with pytest.raises(AssertionError, match="died"):
        one.run([0])
    assert has_died(one.process.pid)
    assert one.process.wait() == -11


def test_arguments_that_forward_writes_are_fresh_in_every_call(candidate):
    task = """
class Model(nn.Module):
    def forward(self, x):
        return x.add_(1)
def get_inputs():
    return [torch.rand(4)]
"""
    one = candidate(task.replace("class Model(", "class ModelNew("), task)
    one.fill(3)
    assert one.load() == (control.OK, "")
    for _ in range(2):
        assert one.run([0]) == (control.OK, "")
        given = torch.frombuffer(one.inputs.map, dtype=torch.float32, count=4)
        assert torch.equal(one.result(0), given + 1)


def test_a_print_into_a_full_log_does_no_harm(candidate):
    one = candidate("print('x' * 100000, flush=True)\n" + HONEST)
    assert one.load() == (control.OK, "")


def test_what_one_process_compiled_the_next_one_finds(candidate):
    text = HONEST + (
        "import os\n"
        "made = os.path.join(os.environ['PRAGMA_KEEP'], 'extensions', 'made')\n"
        "found = os.path.exists(made)\n"
        "os.makedirs(os.path.dirname(made), exist_ok=True)\n"
        "open(made, 'w').write('x')\n"
        "if found: raise ValueError('found it')\n"
    )
    one = candidate(text)
    assert one.load() == (control.OK, "")
    assert one.run([0])[0] == control.OK
    one.close()
    one.process = one.start()
    assert one.load() == (LOAD_FAILED, "loading it raises ValueError: found it")


def test_kept_files_come_back_with_their_times(tmp_path: pathlib.Path):
    memory = Memory(1 << 16)
    (tmp_path / "a" / "deep").mkdir(parents=True)
    file = tmp_path / "a" / "deep" / "file"
    file.write_bytes(b"content")
    os.utime(file, ns=(1_700_000_000_123_456_789, 1_700_000_000_123_456_789))
    assert not keep.restore(memory.fd, str(tmp_path / "b"))
    keep.save(memory.fd, str(tmp_path / "a"))
    assert keep.restore(memory.fd, str(tmp_path / "b"))
    back = tmp_path / "b" / "deep" / "file"
    assert back.read_bytes() == b"content"
    assert back.stat().st_mtime_ns == 1_700_000_000_123_456_789


def test_a_folder_larger_than_the_memory_is_not_kept(tmp_path: pathlib.Path):
    memory = Memory(100)
    (tmp_path / "file").write_bytes(b"x" * 200)
    keep.save(memory.fd, str(tmp_path))
    assert not keep.restore(memory.fd, str(tmp_path / "b"))


MODEL = "class ModelNew: pass\n"


@pytest.mark.parametrize(
    "text, reason",
    [
        ("import sys\nsys._getframe(1)", "looks at the frames"),
        ("import inspect as i\ni.stack()", "looks at the frames"),
        ("def f(e): return e.f_back.f_locals", "reads frames"),
        ("from gc import get_objects", "walks objects"),
        ("import torch\ntorch.cuda.synchronize = lambda: None", "replaces torch.cuda.synchronize"),
        ("import torch as t\nt.allclose = max", "replaces torch.allclose"),
        ("import torch\nsetattr(torch.cuda, 'Event', None)", "replaces torch.cuda.Event"),
    ],
)
def test_what_no_honest_solution_does_is_turned_away(text, reason):
    assert reason in scan(MODEL + text)["reject"]


@pytest.mark.parametrize(
    "text, note",
    [
        ("import torch\ntry:\n    a = 1\nexcept Exception:\n    a = 2", "falls back"),
        ("import ctypes", "uses ctypes"),
        ("import sys\nsys.modules['x'] = 1", "touches sys.modules"),
        ("import torch\ntorch.nn.Linear.forward = None", "replaces torch.nn.Linear.forward"),
        ("import torch", "no kernel of its own"),
    ],
)
def test_what_people_should_look_at_is_noted(text, note):
    found = scan(MODEL + text)
    assert found["reject"] is None
    assert any(note in line for line in found["notes"])


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.backends.mkldnn.enabled = False",
        "import torch._dynamo\ntorch._dynamo.config.cache_size_limit = 1",
        "from torch.utils.cpp_extension import load_inline\nop = load_inline(name='a', cpp_sources=[''])",
        "import torch.utils.cpp_extension as c\nop = c.load(name='a', sources=[])",
    ],
)
def test_honest_means_are_not_noted(text):
    notes = [note for note in scan(MODEL + text)["notes"] if "no kernel" not in note]
    assert scan(MODEL + text)["reject"] is None
    assert notes == []


def test_syntax_errors_have_a_place():
    assert scan("def f(:\n")["syntax"] == {"line": 1, "column": 7, "message": "invalid syntax", "text": "def f(:"}


def test_a_file_without_model_new_is_turned_away():
    assert scan("import torch\n")["reject"].endswith("defines no class ModelNew")


@pytest.mark.parametrize(
    "made",
    [
        lambda x: x,
        lambda x: x.t().contiguous().t(),  # not contiguous
        lambda x: torch._neg_view(-x),  # its bytes have the opposite sign
    ],
)
@pytest.mark.parametrize("rows", [0, 3, 1200])  # the last one has more than 4 MiB
def test_outputs_are_stored_whatever_their_form(made, rows):
    value = torch.randn(rows, 1000)
    area = torch.full((rows, 1000), 7.0)
    outputs.store(made(value), [area])
    torch.testing.assert_close(area, value, rtol=0, atol=0)
