#!/usr/bin/env python3
"""Whether what the expert writes in Triton is right, and whether Triton's compiler takes it. No GPU.

  triton_texts.py run FOLDER TASK.py...       values in Triton's interpreter against torch in float64
  triton_texts.py compile FOLDER TASK.py...   every kernel for sm_90: registers and shared memory
  triton_texts.py compile-all FOLDER TASK.py...   the same with every configuration, not only the first

TARGET in the environment is another GPU: sm_80, sm_89, sm_100 or sm_120, or gfx942 for an AMD MI300X, with the wheel's
own assembler; no ROCm is needed. FOLDER is what `pragma-expert-source PYTHON FOLDER --triton=KIB TASK.py...` wrote, for
the KiB of shared memory that a block may use there (163, 99, 227 and 99). One line a task.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

# Tolerances relative to the largest value of an output; tasks of tests are small.
RELATIVE = {"float32": 1e-4, "float64": 1e-4, "float16": 2e-3, "bfloat16": 1.6e-2}
# By target: what Triton calls it (kind, architecture, lanes of a warp), and shared memory of one block in bytes.
TARGETS: dict[str, tuple[tuple[Any, ...], int]] = {
    "sm_80": (("cuda", 80, 32), 163 * 1024),
    "sm_89": (("cuda", 89, 32), 99 * 1024),
    "sm_90": (("cuda", 90, 32), 227 * 1024),
    "sm_100": (("cuda", 100, 32), 227 * 1024),
    "sm_120": (("cuda", 120, 32), 99 * 1024),
    "gfx942": (("hip", "gfx942", 64), 64 * 1024),
}
TARGET, SHARED_BYTES = TARGETS[os.environ.get("TARGET", "sm_90")]


def loaded(text: str) -> Any:
    from pragma_triton.kernels import load_text

    return load_text(text)


def refused(text: str) -> str | None:
    from pragma_triton.scan import scan

    seen = scan(text)
    return seen["reject"] or (str(seen["syntax"]) if seen["syntax"] else None)


def outputs_of(described: Any, device: str) -> list[Any]:
    import torch

    made = []
    for spec in described.description["outputs"]:
        made.append(torch.empty(spec["shape"], dtype=getattr(torch, spec["dtype"]), device=device))
        if device == "cpu" and made[-1].is_floating_point():
            made[-1].fill_(float("nan"))
    return made


def difference(found: Any, truth: Any) -> str | None:
    import torch

    if not truth.is_floating_point():
        wrong = int((found != truth).sum())
        return f"{wrong} of {truth.numel()} integers differ" if wrong else None
    relative = RELATIVE[str(found.dtype).removeprefix("torch.")]
    found, truth = found.double(), truth.double()
    if not torch.equal(found.isnan(), truth.isnan()):
        return f"{int((found.isnan() != truth.isnan()).sum())} of {truth.numel()} are NaN where torch's are not"
    finite = truth.isfinite()
    if not torch.equal(found[~finite & ~truth.isnan()], truth[~finite & ~truth.isnan()]):
        return "infinities differ"
    if not bool(finite.any()):
        return None
    worst = (found[finite] - truth[finite]).abs().max().item()
    scale = max(truth[finite].abs().max().item(), 1e-30)
    return None if worst <= relative * scale else f"off by {worst:.3g} where values are up to {scale:.3g}"


def check(described: Any, text: str) -> str | None:
    tensors = described.reference.drawn(1)
    truth = described.reference.results("float64", tensors)
    outputs = outputs_of(described, "cpu")
    loaded(text).run(*[t.contiguous() for t in tensors], *outputs)
    for i, (found, right) in enumerate(zip(outputs, truth, strict=True)):
        if (why := difference(found, right)) is not None:
            return f"output {i}: {why}"
    return None


class Recorded:
    """In place of a kernel: keeps what it is launched with."""

    def __init__(self, kernel: Any, launches: list[Any], options: dict[str, int] | None = None) -> None:
        self.kernel, self.launches, self.options = kernel, launches, options or {}

    def __getitem__(self, grid: Any) -> Any:
        return lambda *arguments: self.launches.append((self.kernel, arguments, self.options))


def compiled(kernel: Any, arguments: Any, constants: dict[str, int], warps: int, stages: int) -> Any:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.runtime.jit import mangle_type

    signature, attributes = {}, {}
    for i, name in enumerate(kernel.arg_names):
        signature[name] = mangle_type(arguments[i]) if i < len(arguments) else "constexpr"
        if i < len(arguments):
            attributes[(i,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    options = {"num_warps": warps} | ({"num_stages": stages} if stages else {})
    return triton.compile(source, target=GPUTarget(*TARGET), options=options)


def specs(interface: str) -> list[tuple[str, list[int]]]:
    """Of all parameters of run: their dtypes and shapes."""
    found = re.findall(r"# (\w+) \[([^\]]*)\]: \w+", interface)
    return [(dtype, [int(n) for n in shape.split(",") if n.strip()]) for dtype, shape in found]


def compile_all(interface: str, text: str, every: bool) -> str | None:
    import torch
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    launches: list[Any] = []
    JITFunction.warmup = lambda self, *_, grid, **options: Recorded(self, launches, options)
    module = loaded(text)
    for name, value in list(vars(module).items()):
        if isinstance(value, Autotuner) and f"    {name}[" in text:
            setattr(module, name, Recorded(value, launches))
    module.run(*[torch.empty(s, dtype=getattr(torch, d), device="meta") for d, s in specs(interface)])
    for kernel, given, constants in launches:
        configs: list[tuple[dict[str, int], int, int]] = [({}, constants.get("num_warps", 4), constants.get("num_stages", 0))]
        if isinstance(kernel, Autotuner):
            configs = [(c.kwargs, c.num_warps, c.num_stages) for c in kernel.configs]
            kernel = kernel.fn
        for values, warps, stages in configs if every else configs[:1]:
            result = compiled(kernel, given, values, warps, stages)
            if result.metadata.shared > SHARED_BYTES:
                return f"{kernel.__name__} {values}: {result.metadata.shared} bytes of shared memory"
            if os.environ.get("VERBOSE") and TARGET[0] == "cuda":
                print("   ", kernel.__name__, values, warps, result.metadata.shared, spilled(result))
    return None


def spilled(result: Any) -> str:
    """What the assembler says of registers."""
    import subprocess
    import tempfile

    from triton import knobs

    with tempfile.NamedTemporaryFile(suffix=".ptx", mode="w") as ptx:
        ptx.write(result.asm["ptx"])
        ptx.flush()
        ran = subprocess.run(
            [knobs.nvidia.ptxas.path, "-v", f"-arch=sm_{TARGET[1]}{'a' if TARGET[1] >= 90 else ''}", ptx.name, "-o", "/dev/null"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    return " ".join(re.findall(r"\d+ registers|\d+ bytes spill stores", ran.stderr))


def main() -> int:
    mode, folder, *tasks = sys.argv[1:]
    every = mode == "compile-all"
    if mode == "run":
        os.environ["TRITON_INTERPRET"] = "1"
        from pragma_torch.describe import describe
        from pragma_triton import interpreter

        interpreter.complete()
    failed = 0
    for task in tasks:
        solution = Path(folder) / Path(task).stem / "solution.py"
        if not solution.exists():
            print(f"{Path(task).stem}: no text", flush=True)
            continue
        text = solution.read_text()
        started = time.monotonic()
        try:
            if (why := refused(text)) is None and mode == "run":
                why = check(describe(task), text)
            elif why is None:
                why = compile_all((solution.parent / "interface.txt").read_text(), text, every)
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip()]
            why = f"{type(error).__name__}: {' | '.join(lines[-3:])}"
            if os.environ.get("VERBOSE"):
                raise
        failed += why is not None
        print(f"{Path(task).stem}: {why or 'ok'} ({time.monotonic() - started:.1f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
