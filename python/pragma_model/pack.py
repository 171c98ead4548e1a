"""Packs verified kernels into a folder from which a user puts them into a model (pragma_kernels.apply).

The folder contains:

    manifest.json        what is in the folder; every other file with its SHA-256 ("files")
    lib/KERNEL.so        the kernel and the operator that calls it
    source/KERNEL.cpp    the kernel, its header in front
    source/KERNEL_op.cpp the operator
    source/KERNEL.py     a kernel in Triton, which has neither of these
    units/UNIT.py        how a submodule's forward is replaced
    constants.pt         tensors that forward makes itself, by unit and name, if there are any
    pragma_kernels/      the run time, so that the folder can be used without pragma
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import platform
import shutil
import tempfile
import time
from typing import Any

import torch

from pragma_export.text import one_source
from pragma_model.operator_text import operator_text, schema, takes_list
from pragma_model.pack_build import TARGET, build
from pragma_model.pack_errors import PackError
from pragma_model.pack_needs import needs_of
from pragma_model.pack_unit import UnitText, given_tensors

__all__ = ["PackError", "pack"]

SCHEMA = 1
_RUN_TIME = pathlib.Path(__file__).resolve().parents[1] / "pragma_kernels"


def pack(request: dict[str, Any], out: pathlib.Path) -> dict[str, Any]:
    """Writes the folder. An earlier package there is replaced, all at once; anything else there is an error. Returns the
    names of the files and the seconds that it took."""
    start = time.monotonic()
    out = pathlib.Path(os.path.abspath(out))
    if out.exists() and not (out / "manifest.json").is_file() and (not out.is_dir() or any(out.iterdir())):
        raise PackError(f"{out} exists and is not a package; name another folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as made:
        folder = pathlib.Path(made) / "package"
        folder.mkdir()
        _Package(request, folder).write()
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        if out.exists():
            out.rename(pathlib.Path(made) / "replaced")
        folder.rename(out)
    return {"files": files, "seconds": round(time.monotonic() - start, 3)}


class _Package:
    """A package that is being written."""

    def __init__(self, request: dict[str, Any], folder: pathlib.Path) -> None:
        self._request = request
        self._folder = folder
        self._kernels = {kernel["name"]: kernel for kernel in request["kernels"]}
        self._constants: dict[str, dict[str, torch.Tensor]] = {}  # by unit and name
        if len(self._kernels) != len(request["kernels"]):
            raise PackError("two kernels of the request have the same name")
        for name in [*self._kernels, *(unit["name"] for unit in request["units"])]:
            if not (name.isidentifier() and name.isascii()):
                raise PackError(f"{name!r} cannot be the name of a kernel or unit: it is not an identifier")

    def write(self) -> None:
        for part in ("lib", "source", "units"):
            (self._folder / part).mkdir()
        for unit in self._request["units"]:
            (self._folder / "units" / f"{unit['name']}.py").write_text(UnitText(unit, self._kernels).text())
            self._take_constants(unit)
        # Compilers are programs of their own, so threads suffice to run several.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self._write_kernel, self._kernels.values()))
        if self._constants:
            torch.save(self._constants, self._folder / "constants.pt")
        shutil.copytree(_RUN_TIME, self._folder / "pragma_kernels", ignore=shutil.ignore_patterns("__pycache__"))
        (self._folder / "manifest.json").write_text(json.dumps(self._manifest(), indent=1) + "\n")

    def _write_kernel(self, kernel: dict[str, Any]) -> None:
        if kernel["language"] == "triton":
            (self._folder / "source" / f"{kernel['name']}.py").write_text(kernel["kernel"])
            return
        source = self._folder / "source" / f"{kernel['name']}.cpp"
        operator = self._folder / "source" / f"{kernel['name']}_op.cpp"
        source.write_text(one_source(kernel["header"], kernel["kernel"]))
        operator.write_text(operator_text(kernel, self._request["threads"]))
        build(kernel, source, operator, self._folder / "lib" / f"{kernel['name']}.so")

    def _take_constants(self, unit: dict[str, Any]) -> None:
        found = {a["constant"]: self._constant(unit, a) for a in unit["arguments"] if "constant" in a}
        if found:
            self._constants[unit["name"]] = found

    def _constant(self, unit: dict[str, Any], argument: dict[str, Any]) -> torch.Tensor:
        """The server has the tensor itself (`constants` of the unit). A short one is also in the request, as the bytes of
        the kernel's argument to which it is passed."""
        held = unit.get("constants", {}).get(argument["constant"])
        if held is not None:
            return torch.as_tensor(held).detach().clone(memory_format=torch.contiguous_format)
        text = self._passed(unit, argument["name"])
        if not text:
            raise PackError(f"unit {unit['name']}: the request has no content for the constant {argument['constant']}")
        flat = torch.frombuffer(bytearray.fromhex(text), dtype=getattr(torch, argument["dtype"]))
        return flat.clone().reshape(argument["shape"])

    def _passed(self, unit: dict[str, Any], name: str) -> str:
        for step in unit["steps"]:
            for given, spec in zip(step.get("arguments", []), self._arguments(step), strict=False):
                if given == name and spec.get("constant"):
                    return str(spec["constant"])
        return ""

    def _arguments(self, step: dict[str, Any]) -> list[dict[str, Any]]:
        return list(self._kernels[step["kernel"]]["arguments"]) if "kernel" in step else []

    def _manifest(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "model": self._request["model"],
            "torch": torch.__version__,
            "oldest_torch": list(TARGET),
            "machine": platform.machine(),
            "needs": sorted({need for kernel in self._kernels.values() for need in _needs(kernel)}),
            "threads": self._request["threads"],
            "device": self._request["device"],
            "units": [self._unit_entry(unit) for unit in self._request["units"]],
            "kernels": [self._kernel_entry(kernel) for kernel in self._kernels.values()],
            "files": {
                str(path.relative_to(self._folder)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted(self._folder.rglob("*"))
                if path.is_file()
            },
        }

    def _unit_entry(self, unit: dict[str, Any]) -> dict[str, Any]:
        tensor = UnitText(unit, self._kernels).tensor
        return {
            "name": unit["name"],
            "class": unit["class"],
            "paths": unit["paths"],
            "attributes": unit.get("attributes", {}),
            "file": f"units/{unit['name']}.py",
            "kernels": [step["kernel"] for step in unit["steps"] if "kernel" in step],  # one for each step
            "inputs": [tensor(a) for a in given_tensors(unit)],
            "objects": unit.get("places", {}),
            "weights": [tensor(a) | {"state": a["state"]} for a in unit["arguments"] if "state" in a],
        }

    def _kernel_entry(self, kernel: dict[str, Any]) -> dict[str, Any]:
        name = kernel["name"]
        outputs = [_tensor(output) for output in kernel["outputs"]]
        if kernel["language"] == "triton":
            return {key: kernel[key] for key in ("name", "language", "candidate")} | {
                "needs": _needs(kernel),
                "schema": schema(kernel),
                "takes_list": takes_list(kernel),
                "source": f"source/{name}.py",
                "arguments": [_tensor(argument) for argument in kernel["arguments"]],
                "outputs": outputs,
            }
        kept = ("name", "language", "candidate", "compiler", "flags", "scratch_bytes", "packed_bytes")
        return {key: kernel[key] for key in kept} | {
            "needs": _needs(kernel),
            "threads": self._request["threads"],
            "takes_list": takes_list(kernel),
            "library": f"lib/{name}.so",
            "source": f"source/{name}.cpp",
            "operator": f"source/{name}_op.cpp",
            "outputs": outputs,
        }


def _needs(kernel: dict[str, Any]) -> list[str]:
    """Returns the processor features that the kernel needs; Triton compiles a kernel where it runs."""
    return [] if kernel["language"] == "triton" else needs_of(kernel)


def _tensor(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: spec[key] for key in ("name", "dtype", "shape")}
