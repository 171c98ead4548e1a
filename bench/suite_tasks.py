"""The suite's tasks as torch sees them: drawing, fp64 reference, limits. Imported by suite_check.py."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import re
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
CPP_TYPES = {torch.float32: "float", torch.int64: "std::int64_t", torch.bool: "bool"}


@dataclass
class Instance:
    """One task drawn under one seed: the module, the call, and the kernel's arguments in order."""

    model: torch.nn.Module
    call: list[Any]
    arguments: dict[str, torch.Tensor]


def task_files(pattern: str) -> list[Path]:
    """Returns the suite's files whose stem matches, in the order of their numbers."""
    files = [f for f in (ROOT / "tasks").glob("*/*.py") if f.match(pattern + ".py")]
    return sorted(files, key=lambda f: f.name)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("suite_task_" + path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def lifted_order(model: torch.nn.Module, call: list[Any]) -> list[str]:
    """Returns the names of parameters, buffers and constants in the order in which torch.export lifts them."""
    program = torch.export.export(copy.deepcopy(model), tuple(call))
    specs = program.graph_signature.input_specs
    return [spec.target for spec in specs if spec.target is not None]


def draw(module: ModuleType, seed: int) -> Instance:
    """Draws a task by KernelBench's rule: the seed is set before the constructor and before the inputs."""
    torch.manual_seed(seed)
    model = module.Model(*module.get_init_inputs())
    torch.manual_seed(seed)
    call = module.get_inputs()
    names = list(inspect.signature(model.forward).parameters)
    arguments = {n: v for n, v in zip(names, call) if isinstance(v, torch.Tensor)}
    state = dict(model.named_parameters()) | dict(model.named_buffers())
    for name in lifted_order(model, call):
        arguments[identifier(name)] = state[name].detach()
    return Instance(model, call, arguments)


def forward(model: torch.nn.Module, call: list[Any]) -> list[torch.Tensor]:
    """Returns the outputs as a list. The module is copied, because batch norm updates its buffers."""
    with torch.no_grad():
        result = copy.deepcopy(model)(*[v.clone() if torch.is_tensor(v) else v for v in call])
    return [result] if isinstance(result, torch.Tensor) else list(result)


def widen(value: Any) -> Any:
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value


def reference(instance: Instance) -> list[torch.Tensor]:
    """Returns the outputs computed in float64."""
    return forward(copy.deepcopy(instance.model).double(), [widen(v) for v in instance.call])


def mismatch(actual: torch.Tensor, truth: torch.Tensor) -> float:
    """Returns the largest error over the truth's rms: 0 or infinity for integers, infinity if it is not finite."""
    if not truth.is_floating_point():
        return 0.0 if torch.equal(actual, truth) else float("inf")
    error = (actual.double() - truth).abs().max().item() / max(truth.pow(2).mean().sqrt().item(), 1e-30)
    return error if error == error else float("inf")


def mebibytes(instance: Instance) -> float:
    """Returns the MiB of the arguments and outputs of one call."""
    tensors = list(instance.arguments.values()) + forward(instance.model, instance.call)
    return sum(t.numel() * t.element_size() for t in tensors) / 2**20


def shapes(instance: Instance) -> str:
    """Formats the inputs and outputs for people: `x 3x4, y 4 -> 3x4`."""

    def text(tensor: torch.Tensor) -> str:
        kind = "" if tensor.dtype == torch.float32 else " " + str(tensor.dtype).split(".")[1]
        return ("x".join(map(str, tensor.shape)) or "scalar") + kind

    names = list(inspect.signature(instance.model.forward).parameters)
    inputs = [f"{n} {text(instance.arguments[n])}" for n in names if n in instance.arguments]
    return ", ".join(inputs) + " -> " + ", ".join(map(text, forward(instance.model, instance.call)))


def agrees(wrong: list[torch.Tensor], truth: list[torch.Tensor]) -> bool:
    """Tells whether every output is within KernelBench's tolerance. Used on decoys."""
    return all(
        torch.allclose(w.double(), t.double(), rtol=1e-4, atol=1e-4) for w, t in zip(wrong, truth)
    )


def accepted_decoys(module: ModuleType, instance: Instance) -> list[str]:
    """Returns wrong answers that KernelBench's rule would accept, and arguments that have no effect."""
    truth = reference(instance)
    decoys = {
        "zeros": [torch.zeros_like(t) for t in truth],
        "ones": [torch.ones_like(t) for t in truth],
        "other seed": reference(draw(module, 1234)),
    }
    if any(t.numel() > 1 for t in truth):
        decoys["mean"] = [torch.full_like(t, t.double().mean().item()) for t in truth]
    first = instance.call[0]
    if all(t.shape == first.shape for t in truth):
        decoys["input"] = [first.to(t.dtype) for t in truth]
    accepted = [name for name, decoy in decoys.items() if agrees(decoy, truth)]
    tensors = {n: t for n, t in instance.arguments.items() if t.dim() > 0 or t.is_floating_point()}
    for name, tensor in tensors.items():
        saved = tensor.clone()
        changed = saved.flip(0)
        if saved.is_floating_point():
            changed = 1.1 * saved + 0.1 * torch.randn_like(saved)
        with torch.no_grad():
            tensor.copy_(changed)
            if agrees(reference(instance), truth):
                accepted.append("no effect: " + name)
            tensor.copy_(saved)
    return accepted


def measure(path: Path, seed: int = 42) -> dict[str, Any]:
    """Measures time, memory and soundness of one task. Run it in a process of its own, whose peak memory it reports."""
    torch.set_num_threads(2)
    module = load(path)
    before = time.monotonic()
    torch.manual_seed(seed)
    model = module.Model(*module.get_init_inputs())
    torch.manual_seed(seed)
    call = module.get_inputs()
    outputs = forward(model, call)
    whole = time.monotonic() - before
    calls = []
    for _ in range(5):
        before = time.monotonic()
        with torch.no_grad():
            model(*call)
        calls.append(time.monotonic() - before)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first, again = draw(module, seed), draw(module, seed)
    same = all(torch.equal(first.arguments[n], again.arguments[n]) for n in first.arguments)
    repeat = forward(again.model, again.call)
    same = same and all(torch.equal(a, b) for a, b in zip(outputs, repeat))
    return {
        "seconds": whole,
        "forward_ms": sorted(calls)[2] * 1e3,
        "peak_mib": peak,
        "deterministic": same,
        "accepted_decoys": accepted_decoys(module, first),
    }
