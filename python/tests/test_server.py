"""The real server process: draws, references, timing children, its manners under bad requests."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest
import torch
from conftest import Harness, Memory, Server, Timer, layout

from pragma_torch import control

STATEFUL = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(6, 4)
            self.bn = nn.BatchNorm1d(4)
            self.bn2 = nn.BatchNorm1d(4)
            self.bn2.eval()
            self.shift = torch.randn(4)
            print("prints of the task disturb nothing")
        def forward(self, x, k, xs):
            return self.bn2(self.bn(self.fc(x)) * k) + self.shift + xs[0], x.argmax(1), x > 0
    def get_inputs(): return [torch.randn(8, 6), 2.0, [torch.randn(4)]]
"""


class Set:
    """One drawn set with room for its outputs."""

    def __init__(self, server: Server, task: dict, sets: int = 1) -> None:
        self.server, self.task = server, task
        self.offsets, self.size = layout(task["arguments"])
        self.wide, wide_size = layout(task["outputs"], wide=True)
        self.packed, _ = layout(task["outputs"])
        self.arguments, self.outputs = Memory(self.size * sets), Memory(wide_size)

    def shifted(self, number: int) -> list[int]:
        return [offset + number * self.size for offset in self.offsets]

    def draw(self, seed: int, number: int = 0) -> dict:
        return self.server.ask("draw", [self.arguments.fd], seed=seed, offsets=self.shifted(number))

    def argument(self, name: str, dtype: type = np.float32) -> np.ndarray:
        return self._array(self.task["arguments"], self.offsets, self.arguments, name, dtype)

    def output(self, name: str, dtype: type, wide: bool = True) -> np.ndarray:
        places = self.wide if wide else self.packed
        return self._array(self.task["outputs"], places, self.outputs, name, dtype)

    @staticmethod
    def _array(specs, offsets, memory, name, dtype) -> np.ndarray:
        index = next(i for i, spec in enumerate(specs) if spec["name"] == name)
        shape = specs[index]["shape"]
        return np.frombuffer(memory.map, dtype, int(np.prod(shape)), offsets[index]).reshape(shape)

    def reference(self, precision: str) -> dict:
        places = self.packed if precision == "native" else self.wide
        return self.server.ask(
            "reference",
            [self.arguments.fd, self.outputs.fd],
            precision=precision,
            offsets=self.offsets,
            output_offsets=places,
        )


def test_a_whole_session(one_server: Harness):
    """Draws repeat by seed; references follow whatever lies in the area; buffers start anew each time."""
    server, task = one_server.describe(STATEFUL)
    s = Set(server, task)
    assert s.draw(2**63 + 5)["ok"]
    first = s.argument("x").copy(), s.argument("fc_weight").copy()
    s.draw(1)
    assert not np.array_equal(s.argument("x"), first[0])
    s.draw(2**63 + 5)
    assert np.array_equal(s.argument("x"), first[0]) and np.array_equal(
        s.argument("fc_weight"), first[1]
    )

    for _ in range(2):  # the second run must not see statistics of the first
        assert s.reference("float64") == {"ok": True, "id": 1, "note": ""}
        expected = _by_hand(s)
        assert np.allclose(s.output("out_0", np.float64), expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(s.output("out_1", np.int64), s.argument("x").argmax(1))
    assert np.array_equal(s.output("out_2", np.bool_), s.argument("x") > 0)
    assert np.array_equal(s.argument("bn_running_mean"), np.zeros(4))  # arguments are never written

    # Changed parameters, buffers and constants have an effect.
    for name in ("shift", "fc_bias", "bn2_running_var"):
        _write(s, name, np.full(4, 3.5, np.float32))
    s.reference("native")
    assert np.allclose(s.output("out_0", np.float32, wide=False), _by_hand(s), rtol=1e-4, atol=1e-4)


def _by_hand(s: Set) -> np.ndarray:
    x, w, b = (s.argument(n).astype(np.float64) for n in ("x", "fc_weight", "fc_bias"))
    y = x @ w.T + b
    y = 2 * (
        (y - y.mean(0)) / np.sqrt(y.var(0) + 1e-5) * s.argument("bn_weight") + s.argument("bn_bias")
    )
    mean, var = (s.argument(n).astype(np.float64) for n in ("bn2_running_mean", "bn2_running_var"))
    y = (y - mean) / np.sqrt(var + 1e-5) * s.argument("bn2_weight") + s.argument("bn2_bias")
    return y + s.argument("shift") + s.argument("xs_0")


def _write(s: Set, name: str, values: np.ndarray) -> None:
    index = next(i for i, spec in enumerate(s.task["arguments"]) if spec["name"] == name)
    s.arguments.map[s.offsets[index] : s.offsets[index] + values.nbytes] = values.tobytes()


def test_files_of_the_folder_that_the_task_read_are_told(harness: Harness):
    harness.write("SIZE = 3\n", "part.py")
    harness.write("never read\n", "other.txt")
    (harness.folder / "data.txt").write_text("4")
    path = harness.write(
        """
        import pathlib
        import torch, torch.nn as nn
        import part
        MORE = int((pathlib.Path(__file__).parent / "data.txt").read_text())
        class Model(nn.Module):
            def forward(self, x): return x + MORE
        def get_inputs(): return [torch.randn(part.SIZE)]
        """
    )
    reply = harness.start().ask("describe", task=str(path), memory_limit=0)
    assert reply["files"] == ["data.txt", "part.py"]


def test_what_does_not_work_in_float64_falls_back_and_says_so(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
            def forward(self, x):
                if x.dtype != torch.float32: raise TypeError("float32 only")
                return self.fc(x)
        def get_inputs(): return [torch.randn(2, 3)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    note = s.reference("float64")["note"]
    assert "float64" in note and "float32 only" in note
    wide = s.output("out", np.float64).copy()
    s.reference("native")
    assert np.array_equal(wide, s.output("out", np.float32, wide=False).astype(np.float64))


def test_inputs_on_which_float64_fails_have_no_truth(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def forward(self, x):
                if x.dtype == torch.float64 and x[0] > 100: raise RuntimeError("it does not converge")
                return x * 2
        def get_inputs(): return [torch.rand(3)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    assert s.reference("float64")["note"] == ""
    s.argument("x")[0] = 1000
    assert "it does not converge" in s.reference("float64")["error"]["message"]
    assert s.reference("native")["ok"]
    s.draw(2)
    assert s.reference("float64")["note"] == ""


@pytest.mark.parametrize(
    "cast",
    ["x.float()", "x.to(torch.bfloat16).float()", "torch.softmax(x, -1, dtype=torch.float32)", "x.half().float()"],
)
def test_casts_in_forward_do_not_round_the_truth(one_server: Harness, cast: str):
    server, task = one_server.describe(
        f"""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
            def forward(self, x):
                return self.fc({cast}) + torch.full((3,), 0.1, dtype=torch.float32)
        def get_inputs(): return [torch.randn(2, 3)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    assert s.reference("float64")["note"] == ""
    x, w, b = (s.argument(n).astype(np.float64) for n in ("x", "fc_weight", "fc_bias"))
    if "softmax" in cast:
        x = np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)
    assert np.allclose(s.output("out", np.float64), x @ w.T + b + 0.1, rtol=1e-12, atol=1e-12)


def test_autocast_does_not_round_the_truth(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
            def forward(self, x):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return self.fc(x.float()).float()
        def get_inputs(): return [torch.randn(2, 3)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    assert s.reference("float64")["note"] == ""
    x, w, b = (s.argument(n).astype(np.float64) for n in ("x", "fc_weight", "fc_bias"))
    assert np.allclose(s.output("out", np.float64), x @ w.T + b, rtol=1e-12, atol=1e-12)


def test_eight_bit_floats_are_part_of_the_truth(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def forward(self, x):
                return x.to(torch.float8_e4m3fn).float()
        def get_inputs(): return [torch.randn(2, 3)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    assert s.reference("float64")["note"] == ""
    rounded = torch.from_numpy(s.argument("x").copy()).to(torch.float8_e4m3fn).float().numpy()
    assert np.array_equal(s.output("out", np.float64), rounded.astype(np.float64))


def test_references_are_computed_without_torch_compile(harness: Harness):
    text = """
        def refuse(graph, inputs): raise RuntimeError("compiled")
        @torch.compile(backend=refuse)
        def twice(x): return x * 2
        class Model(nn.Module):
            def forward(self, x): return twice(x) + 1
        def get_inputs(): return [torch.randn(2, 3)]
    """
    for _ in range(2):  # forward is not run when the task is described for the second time
        server, task = harness.describe(text)
        s = Set(server, task)
        s.draw(1)
        for precision in ("float64", "native"):
            reply = s.reference(precision)
            assert reply["ok"] and not reply["note"], reply


def test_constants_that_forward_makes_cannot_be_changed(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def forward(self, x): return x * torch.tensor([2.0, 3.0])
        def get_inputs(): return [torch.randn(4, 2)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    assert list(s.argument("lifted_tensor_0")) == [2.0, 3.0]
    assert s.reference("native")["ok"]
    _write(s, "lifted_tensor_0", np.array([5.0, 3.0], np.float32))
    assert "cannot be changed" in s.reference("native")["error"]["message"]


def test_a_loaded_task_says_what_describing_it_takes_and_is_loaded_once(harness: Harness, tmp_path: pathlib.Path):
    server = harness.start()
    times = tmp_path / "times"
    path = str(
        harness.write(
            f"""
        with open({str(times)!r}, "a") as file: file.write("loaded ")
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.randn(1000)]
    """
        )
    )
    loaded = server.ask("load", task=path, memory_limit=1 << 30)
    # Three copies of the argument, the results of two runs, and forward's own.
    assert loaded["device_bytes"] == 6 * 4000
    before = times.read_text()
    assert server.ask("describe", task=path, memory_limit=1 << 30)["ok"]
    assert times.read_text() == before
    gone = str(tmp_path / "gone.py")
    assert server.ask("load", task=path)["ok"]
    assert server.ask("load", task=gone)["error"]["kind"] == "task"
    assert server.ask("describe", task=gone)["error"]["kind"] == "task"  # not the one before it


def test_bad_requests_are_answered_and_do_no_harm(harness: Harness):
    server = harness.start()
    assert "no task" in server.ask("draw", seed=1, offsets=[])["error"]["message"]
    assert "unknown operation" in server.ask("dance")["error"]["message"]
    path = str(
        harness.write("class Model(nn.Module): pass\ndef get_inputs(): raise ValueError('x')\n")
    )
    error = server.ask("describe", task=path)["error"]
    assert error["kind"] == "task" and "get_inputs() raises ValueError: x" in error["message"]
    path = str(
        harness.write(
            """
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.randn(16)]
    """
        )
    )
    assert server.ask("describe", task=path)["ok"]
    assert "descriptor is missing" in server.ask("draw", seed=1, offsets=[0])["error"]["message"]
    memory = Memory(4096)
    assert (
        "outside" in server.ask("draw", [memory.fd], seed=1, offsets=[4096 - 8])["error"]["message"]
    )
    assert server.ask("draw", [memory.fd], seed=1, offsets=[0])["ok"]
    assert (
        len(os.listdir(f"/proc/{server.process.pid}/fd")) < 30
    )  # descriptors of requests are closed


MUTATING = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(64)
            self.fc = nn.Linear(64, 64)
        def forward(self, x, y):
            x.add_(1)
            with open({log!r}, "a") as f:
                f.write(f"{{torch.get_num_threads()}} {{float(y[0, 0])}}\\n")
            return self.fc(self.bn(x)) + y
    def get_inputs(): return [torch.randn(128, 64), torch.zeros(128, 64)]
"""


def test_eager_child_sees_refills_keeps_its_writes_and_uses_its_threads(
    one_server: Harness, tmp_path: pathlib.Path
):
    log = tmp_path / "seen"
    server, task = one_server.describe(MUTATING.format(log=str(log)))
    s = Set(server, task, sets=2)
    s.draw(1, 0), s.draw(2, 1)
    before = bytes(s.arguments.map)
    log.unlink()  # describe ran forward too
    timer = Timer(server, "eager", "keep", s.arguments, [s.shifted(0), s.shifted(1)])
    assert timer.ring(control.RUN, [0])[0] == control.RAISED  # nothing is loaded yet
    assert timer.ring(control.LOAD) == (control.OK, timer.ring(control.EMPTY)[1])
    assert timer.ring(control.RUN, [0, 1])[0] == control.OK
    _write(s, "y", np.full((128, 64), 7.0, np.float32))  # a refill of set 0
    assert timer.ring(control.RUN, [1, 0])[0] == control.OK
    assert log.read_text().splitlines() == ["2 0.0", "2 0.0", "2 0.0", "2 7.0"]
    _write(s, "y", np.zeros((128, 64), np.float32))
    assert bytes(s.arguments.map) == before  # in-place work stays in the child
    assert timer.ring(99)[0] == control.BAD_COMMAND
    assert timer.ring(control.EXIT)[0] == control.OK


def test_a_parallel_region_in_the_child_runs_on_all_its_threads(one_server: Harness):
    """libgomp's pool must be born in the child: one of the zygote's would be dead after the fork."""
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def forward(self, x): return (x @ x).relu().sum()
        def get_inputs(): return [torch.randn(512, 512)]
    """
    )
    s = Set(server, task)
    s.draw(1)
    assert s.reference("native")["ok"]  # by now the server itself has run a parallel region
    timer = Timer(server, "eager", "default", s.arguments, [s.offsets])
    assert timer.ring(control.LOAD)[0] == control.OK
    assert len(os.listdir(f"/proc/{timer.pid}/task")) == 1
    assert timer.ring(control.RUN, [0, 0, 0])[0] == control.OK
    assert len(os.listdir(f"/proc/{timer.pid}/task")) == 2


def _minor_faults(pid: int) -> int:
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[7])


def test_keeping_freed_memory_saves_the_page_faults(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.randn(12 << 20)]  # beyond the largest threshold that glibc grows by itself
    """
    )
    s = Set(server, task)
    s.draw(1)
    faults = {}
    for allocator in ("default", "keep"):
        timer = Timer(server, "eager", allocator, s.arguments, [s.offsets])
        assert timer.ring(control.LOAD)[0] == control.OK
        # The heap grows occasionally until its holes fit. After that it causes no more page faults.
        faults[allocator] = min(_faults_of_a_burst(timer) for _ in range(6))
    assert faults["keep"] < 100 < faults["default"]


def _faults_of_a_burst(timer: Timer) -> int:
    before = _minor_faults(timer.pid)
    assert timer.ring(control.RUN, [0] * 4)[0] == control.OK
    return _minor_faults(timer.pid) - before


def test_compile_compiles_once_for_all_sets(one_server: Harness):
    server, task = one_server.describe(
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.bn, self.c = nn.Linear(16, 16), nn.BatchNorm1d(16), torch.randn(16)
            def forward(self, x, k): return torch.relu(self.bn(self.fc(x)) * k) + self.c
        def get_inputs(): return [torch.randn(32, 16), 0.5]
    """
    )
    s = Set(server, task, sets=3)
    for number in range(3):
        s.draw(number, number)
    timer = Timer(server, "compile", "default", s.arguments, [s.shifted(n) for n in range(3)])
    assert timer.ring(control.LOAD) == (control.OK, "torch.compile: 1 graph(s)")
    assert timer.ring(control.RUN, [2, 0, 1])[0] == control.OK
    refused = Timer(server, "compile", "default", s.arguments, [s.shifted(0)], compile_mode="no such mode")
    code, said = refused.ring(control.LOAD)
    assert code == control.RAISED and "no such mode" in said  # Torch's own words


def test_errors_of_the_task_reach_the_page(one_server: Harness, tmp_path: pathlib.Path):
    server, task = one_server.describe(
        f"""
        import os
        class Model(nn.Module):
            def forward(self, x):
                if os.path.exists({str(tmp_path / "fail")!r}): raise ValueError("now\\nit fails")
                return x + 1
        def get_inputs(): return [torch.randn(4)]
    """
    )
    s = Set(server, task)
    timer = Timer(server, "eager", "default", s.arguments, [s.offsets])
    assert timer.ring(control.LOAD)[0] == control.OK
    (tmp_path / "fail").touch()
    assert timer.ring(control.RUN, [0]) == (control.RAISED, "forward raises ValueError: now")


def test_nothing_survives_the_server(harness: Harness):
    server, task = harness.describe(
        """
        class Model(nn.Module):
            def forward(self, x): return x + 1
        def get_inputs(): return [torch.randn(4)]
    """
    )
    s = Set(server, task)
    timer = Timer(server, "eager", "default", s.arguments, [s.offsets])
    children = (
        pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        .read_text()
        .split()
    )
    watched = [timer.pidfd] + [os.pidfd_open(int(pid)) for pid in children]
    assert len(watched) == 2
    server.process.kill()
    import select

    for pidfd in watched:
        assert select.select([pidfd], [], [], 30)[0], "a child outlived the server"


def test_torch_is_the_one_installed(one_server: Harness):
    assert one_server.start().hello["torch"] == torch.__version__
