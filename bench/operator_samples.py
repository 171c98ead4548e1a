"""The sample inputs of torch's own operator tests (op_db) as modules: one operator, the tensors as forward's arguments,
everything else fixed. bench/operators.py runs this file in processes of its own, one for each operator:

    operator_samples.py NAME --pragma-python FOLDER --writer PROGRAM --compiler g++ --samples N

It prints one JSON object a sample. torch's tests need the package expecttest. Only dense tensors on the processor are used,
in float32, or in int64 or bool for an operator that takes no float32.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils import _pytree as pytree

KERNEL_SECONDS = 20  # of one call; samples are small, so that a longer one hangs
ALIGNMENT = 64
# An element is right if it is this close to the result in float64, relative to itself or to the output's root mean
# square, or not much further from it than Torch's own result. Where values near 1 cancel, the float64 result itself is off
# by their last bit.
RELATIVE = 1e-4
OF_MEAN = 1e-5
OF_TORCH = 8
ABSOLUTE = 2.0**-52


def all_operators() -> list[Any]:
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ModuleNotFoundError as error:
        sys.exit(f"torch's own tests need the package {error.name}: install it beside torch")
    return list(op_db)


def name_of(info: Any) -> str:
    return str(info.formatted_name)


def dtype_for(info: Any) -> torch.dtype | None:
    for dtype in (torch.float32, torch.int64, torch.bool):
        if dtype in info.supported_dtypes("cpu"):
            return dtype
    return None


class Sample:
    """An operator with the arguments of one sample. `tensors` are what varies."""

    def __init__(self, operator: Callable[..., Any], sample: Any) -> None:
        arguments = ((sample.input, *sample.args), sample.kwargs)
        leaves, self._structure = pytree.tree_flatten(arguments)
        self._leaves = leaves
        self._places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self._operator = operator
        self.tensors: list[torch.Tensor] = [leaves[i].detach() for i in self._places]

    def dense(self) -> bool:
        return all(t.layout == torch.strided and not t.is_quantized and t.device.type == "cpu" for t in self.tensors)

    def call(self, tensors: list[torch.Tensor]) -> Any:
        leaves = list(self._leaves)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = pytree.tree_unflatten(leaves, self._structure)
        return self._operator(*args, **kwargs)

    def key(self) -> str:
        """Equal for samples that differ in the values of tensors only."""
        fixed = [repr(leaf) for i, leaf in enumerate(self._leaves) if i not in self._places]
        forms = [f"{t.dtype}{tuple(t.shape)}{t.stride()}" for t in self.tensors]
        return " ".join([*forms, *fixed])

    def form(self) -> str:
        return ", ".join(f"{str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for t in self.tensors)


def spread(found: list[Sample], most: int) -> list[Sample]:
    """Returns at most this many, evenly from all."""
    if most <= 0 or len(found) <= most:
        return found
    return [found[i * len(found) // most] for i in range(most)]


def samples_of(info: Any, most: int) -> list[Sample]:
    dtype = dtype_for(info)
    if dtype is None:
        return []
    known: dict[str, Sample] = {}
    for drawn in info.sample_inputs("cpu", dtype, requires_grad=False):
        sample = Sample(info.op, drawn)
        if sample.tensors and sample.dense():
            known.setdefault(sample.key(), sample)
    return spread(list(known.values()), most)


TASK = """import torch
import operator_samples


class Model(torch.nn.Module):
    def forward(self, {names}):
        return operator_samples.CURRENT.call([{names}])


def get_inputs():
    return [t.clone() for t in operator_samples.CURRENT.tensors]
"""
CURRENT: Sample


def described(sample: Sample, folder: pathlib.Path) -> dict[str, Any]:
    """Returns what pragma's PyTorch server tells of the sample as a task."""
    from pragma_torch.describe import describe

    global CURRENT
    CURRENT = sample
    file = folder / "sample.py"
    file.write_text(TASK.format(names=", ".join(f"x{i}" for i in range(len(sample.tensors)))), encoding="utf-8")
    return dict(describe(str(file)).description)


class NotSolved(Exception):
    """With the outcome, and why."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


def write_kernel(task: dict[str, Any], folder: pathlib.Path, options: argparse.Namespace) -> pathlib.Path:
    file = folder / "sample.json"
    file.write_text(json.dumps(task), encoding="utf-8")
    done = subprocess.run([options.writer, sys.executable, str(folder), str(file)], capture_output=True, text=True, check=False)
    kernel = folder / "sample" / "kernel.cpp"
    if not kernel.exists():
        said = (done.stdout + done.stderr).strip().splitlines()
        raise NotSolved("refused", said[-1].removeprefix("sample: refused: ") if said else f"exit {done.returncode}")
    return kernel


def build(kernel: pathlib.Path, options: argparse.Namespace) -> pathlib.Path:
    library = kernel.with_name("kernel.so")
    given = re.search(r"^// pragma-flags: (.+)$", kernel.read_text(encoding="utf-8"), re.MULTILINE)
    flags = given.group(1).split() if given else ["-O3", "-march=native", "-fopenmp"]
    done = subprocess.run([options.compiler, "-std=c++20", "-shared", "-fPIC", *flags, "-I", str(kernel.parent), "-o", str(library), str(kernel)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotSolved("wrong", "does not compile: " + next((x for x in done.stderr.splitlines() if "error" in x), "?")[:200])
    return library


def address(memory: mmap.mmap, at: int) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) + at


def call_kernel(library: pathlib.Path, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Calls the kernel in a child process. `outputs` give the forms of the results."""
    sizes = [t.numel() * t.element_size() for t in [*inputs, *outputs]]
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += -(-max(size, 1) // ALIGNMENT) * ALIGNMENT + ALIGNMENT
    memory = mmap.mmap(-1, max(end, ALIGNMENT))
    memory.write(b"\xcb" * end)  # what is not written is seen
    for tensor, offset, size in zip(inputs, offsets, sizes, strict=False):
        if size:
            memory[offset : offset + size] = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(KERNEL_SECONDS)
            loaded = ctypes.CDLL(str(library))
            scratch = 0
            try:
                scratch = ctypes.c_size_t.in_dll(loaded, "pragma_scratch_bytes").value
            except ValueError:
                pass
            held = mmap.mmap(-1, scratch + ALIGNMENT)
            held.write(b"\xcb" * (scratch + ALIGNMENT))
            pointers = [ctypes.c_void_p(address(memory, offset)) for offset in offsets]
            loaded.pragma_kernel(*pointers, ctypes.c_void_p(address(held, 0)))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise NotSolved("wrong", f"ended by {signal.Signals(os.WTERMSIG(status)).name}")
    results = []
    for tensor, offset, size in zip(outputs, offsets[len(inputs) :], sizes[len(inputs) :], strict=True):
        raw = torch.frombuffer(bytearray(memory[offset : offset + size]) or bytearray(1), dtype=torch.uint8)
        results.append(raw[:size].view(tensor.dtype).reshape(tensor.shape))
    return results


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Returns the tensors of a result, contiguous, complex ones as pairs of real numbers."""
    from pragma_torch.plan import pairs_of

    return [pairs_of(leaf).contiguous() for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def inputs_of(sample: Sample, task: dict[str, Any]) -> list[torch.Tensor]:
    """Returns what the kernel is given: the sample's tensors, and then the constants that the operator makes itself."""
    given = list(sample.tensors)
    for argument in task["arguments"][len(given) :]:
        if "constant" not in argument:
            raise NotSolved("not checked", f"it takes {argument['name']} beside the sample's tensors")
        raw = torch.frombuffer(bytearray.fromhex(argument["constant"]), dtype=torch.uint8)
        given.append(raw.view(getattr(torch, argument["dtype"])).reshape(argument["shape"]))
    if len(given) != len(task["arguments"]):
        raise NotSolved("not checked", "it takes fewer than the sample's tensors")
    return given


def complaint(got: torch.Tensor, torchs: torch.Tensor, truth: torch.Tensor) -> str:
    """Returns why the result is wrong, or nothing."""
    if not torchs.is_floating_point():
        different = int((got != torchs).sum())
        return f"{different} of {got.numel()} elements differ" if different else ""
    odd = ~torch.isfinite(torchs)
    if not torch.equal(torch.nan_to_num(got[odd], nan=7.0), torch.nan_to_num(torchs[odd], nan=7.0)):
        return "not the same NaN and infinities as Torch"
    got, torchs, truth = (t[~odd].double() for t in (got, torchs, truth))
    truth = torch.where(torch.isfinite(truth), truth, torchs)
    mean = truth.square().mean().sqrt() if truth.numel() else 0
    allowed = RELATIVE * truth.abs() + OF_MEAN * mean + OF_TORCH * (torchs - truth).abs() + ABSOLUTE
    wrong = ~((got - truth).abs() <= allowed)
    if not bool(wrong.any()):
        return ""
    at = int(wrong.nonzero()[0])
    return f"{int(wrong.sum())} of {got.numel()} elements are wrong, the first is {float(got[at]):.6g}, not {float(truth[at]):.6g}"


def results_of(sample: Sample, given: list[torch.Tensor], task: dict[str, Any]) -> list[torch.Tensor]:
    """Returns what the operator returns, and then the tensors that it changes."""
    returned = tensors_in(sample.call(given))
    names = [argument["name"] for argument in task["arguments"]]
    return returned + tensors_in([given[names.index(name)] for name in task["updates"]])


def check(sample: Sample, task: dict[str, Any], library: pathlib.Path) -> None:
    from pragma_torch.reference import widened

    torchs = results_of(sample, [t.clone() for t in sample.tensors], task)
    try:
        truths = results_of(sample, [widened(t) for t in sample.tensors], task)
    except Exception:  # not every operator has a form in float64
        truths = torchs
    forms = [(tuple(spec["shape"]), spec["dtype"]) for spec in task["outputs"]]
    if [(tuple(t.shape), str(t.dtype).removeprefix("torch.")) for t in torchs] != forms:
        raise NotSolved("not checked", "the outputs are not the tensors that the operator returns")
    for got, ours, truth in zip(call_kernel(library, inputs_of(sample, task), torchs), torchs, truths, strict=True):
        why = complaint(got, ours, truth)
        if why:
            raise NotSolved("wrong", why)


def judge(sample: Sample, options: argparse.Namespace) -> dict[str, Any]:
    row: dict[str, Any] = {"form": sample.form(), "graph": []}
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        try:
            task = described(sample, place)
            row["graph"] = sorted({node["op"] for node in task["graph"] if node["op"].startswith("aten.")})
            if not task["graph"]:
                raise NotSolved("no graph", task["export_error"])
            if all(op.startswith("aten.empty") for op in row["graph"]):
                raise NotSolved("no task", "its values are not defined")
            kernel = write_kernel(task, place, options)
            check(sample, task, build(kernel, options))
        except NotSolved as error:
            return row | {"outcome": error.outcome, "why": str(error)[:300]}
        except Exception as error:  # TaskError, and what the operator itself raises
            return row | {"outcome": "no task", "why": str(error).splitlines()[0][:300] if str(error) else repr(error)}
    return row | {"outcome": "solved", "why": ""}


def rows_of(info: Any, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for sample in samples_of(info, options.samples):
        yield judge(sample, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="an operator's name in op_db; none: print all names")
    parser.add_argument("--pragma-python", default="python", help="folder with pragma_torch")
    parser.add_argument("--writer", default="build/pragma-expert-source")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--samples", type=int, default=0, help="at most so many of an operator (0: all)")
    options = parser.parse_args()
    sys.path.insert(0, options.pragma_python)
    sys.modules["operator_samples"] = sys.modules["__main__"]  # what the task's file imports
    torch.manual_seed(7)
    torch.set_num_threads(1)
    operators = all_operators()
    if options.name is None:
        print("\n".join(f"{name_of(info)} {info.aten_name or info.name}" for info in operators))
        return
    for info in operators:
        if name_of(info) == options.name:
            for row in rows_of(info, options):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
