"""observe.py MODE MODULE PLAN INPUTS REPORT: calls one Triton module on its own tensors and lets itself be observed. It
does for a Triton module what pragma-cuda-profiler does for a CUDA candidate.

MODE `region` makes one call between cudaProfilerStart and cudaProfilerStop, for an external profiler. MODE `launches`
writes what one call starts, from the driver's activity records (through torch.profiler), which are permitted where
counters are not. src/profile/launches.h reads REPORT. A device whose memory is the host's keeps no such records; there
`region` is one call in Triton's interpreter.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import sys
from typing import Any

# With -I neither PYTHONPATH nor this folder is searched. The packages are in the same parent folder.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch  # noqa: E402

from pragma_torch.device import CPU, CUDA  # noqa: E402
from pragma_triton import interpreter  # noqa: E402
from pragma_triton.kernels import INTERPRET, load_text  # noqa: E402
from pragma_triton.kernels import compiled as all_compiled  # noqa: E402

_UNOBSERVED = 3  # calls, in which code is compiled and tuned and clocks rise
# CUdevice_attribute: multiprocessors; threads, blocks, registers and shared memory of one of them; shared memory that
# the driver reserves for each block.
_ATTRIBUTES = (16, 39, 106, 82, 81, 111)
_WORD = 4  # bytes of a register


def read_inputs(plan: dict[str, Any], path: str, device: str) -> list[torch.Tensor]:
    size = os.path.getsize(path)
    raw = torch.from_file(path, shared=False, size=size, dtype=torch.uint8)
    tensors = []
    for argument in plan["arguments"]:
        empty = _empty(argument, "meta")
        begin = argument["offset"]
        values = raw[begin : begin + empty.numel() * empty.element_size()]
        tensors.append(values.view(empty.dtype).reshape(empty.shape).to(device))
    return tensors


def _empty(spec: dict[str, Any], device: str) -> torch.Tensor:
    return torch.empty(spec["shape"], dtype=getattr(torch, spec["dtype"]), device=device)


def device_facts() -> list[int]:
    driver = ctypes.CDLL("libcuda.so.1")
    facts = []
    for attribute in _ATTRIBUTES:
        value = ctypes.c_int(0)
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, 0)
        facts.append(value.value)
    return facts


def compiled(module: Any) -> list[Any]:
    """Returns what Triton compiled from the module's kernels: all variants that were launched."""
    return [k for k in all_compiled(module) if getattr(k, "n_regs", None) is not None]


def spilled(kernels: list[Any]) -> dict[tuple[str, int], int]:
    """Returns local bytes per thread by name and registers, because variants of a kernel share one name."""
    return {(kernel.name, kernel.n_regs): _WORD * kernel.n_spills for kernel in kernels}


def write_objects(kernels: list[Any], folder: pathlib.Path) -> None:
    for number, kernel in enumerate(kernels):
        if "cubin" in kernel.asm:
            (folder / f"{number}.cubin").write_bytes(kernel.asm["cubin"])


def launches(trace: dict[str, Any], local: dict[tuple[str, int], int]) -> list[str]:
    """Returns a line for each kernel of a trace in Chrome's format, in order of time."""
    events = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    lines = []
    for event in sorted(events, key=lambda e: e["ts"]):
        facts = event.get("args", {})
        blocks, threads = _product(facts.get("grid", [])), _product(facts.get("block", []))
        shared, registers = facts.get("shared memory", 0), facts.get("registers per thread", 0)
        name = event["name"]
        numbers = (blocks, threads, shared, 0, registers, local.get((name, registers), 0), 0)
        lines.append(f"launch {event['dur'] / 1000:.6f} {' '.join(str(int(n)) for n in numbers)} {name}")
    return lines


def _product(numbers: list[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product


def record(call: Any, folder: pathlib.Path) -> dict[str, Any]:
    from torch.profiler import ProfilerActivity, profile

    path = folder / "trace.json"
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    seen.export_chrome_trace(str(path))
    return json.loads(path.read_text())


def main(mode: str, module_path: str, plan_path: str, inputs: str, report: str) -> None:
    device = CPU if os.environ.get(INTERPRET) == "1" else CUDA
    plan = json.loads(pathlib.Path(plan_path).read_text())
    tensors = read_inputs(plan, inputs, device)
    tensors += [_empty(output, device) for output in plan["outputs"]]
    if device == CPU:
        interpreter.complete()
    module = load_text(pathlib.Path(module_path).read_text())

    def call() -> None:
        module.run(*tensors)

    if device == CPU:
        if mode == "launches":
            sys.exit("a device in the host's memory keeps no records of its launches")
        return call()
    for _ in range(_UNOBSERVED):
        call()
    torch.cuda.synchronize()
    if mode == "region":
        torch.cuda.profiler.start()
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        return
    made, folder = compiled(module), pathlib.Path(report).parent
    write_objects(made, folder)
    lines = launches(record(call, folder), spilled(made))
    header = [f"device {' '.join(map(str, device_facts()))}", f"call 0 {len(lines)}"]
    pathlib.Path(report).write_text("\n".join([*header, *lines, "end", ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
