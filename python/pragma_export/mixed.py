"""Writes a solution (class ModelNew) whose forward calls several kernels, with Torch's operators between them.

It reads one JSON object on stdin (written by src/export/mixed.cc), and prints the Python file on stdout, as write.py
does for one kernel. Each island of the task's graph is a function that calls its kernel. forward has one line for each
step: a call of such a function, or an operator of Torch.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

# In an isolated run of this file its own package is not on the path.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pragma_export.text import (  # noqa: E402
    answer,
    build_and_load,
    kept_scratch,
    literal,
    mode_check,
    mode_note,
    one_source,
    ready,
)
from pragma_export.write import TaskSource, last_lines, value_of, written_constants  # noqa: E402

_IMPORTS = ("import ctypes", "import os", "import torch", "from torch.utils.cpp_extension import load_inline")

_HELPERS = (
    '''
def _pragma_library(name, compiler, flags, link, needs, source):
    with open("/proc/cpuinfo") as cpuinfo:
        words = set(cpuinfo.read().split())
    missing = [feature for feature in needs if feature not in words]
    if missing:
        raise RuntimeError(f"{name} needs a processor with {', '.join(missing)}; this one lacks it")
    os.environ["CXX"] = compiler
'''
    + build_and_load(name="name", cpp_sources="[source]", extra_cflags="flags", extra_ldflags="link")
    + "\n\n_PRAGMA_KEPT = {}\n\n\n"
    + kept_scratch("island, size", "island")
    + ready("cpu", 64)
)


def write(request: dict[str, Any]) -> str:
    model = TaskSource(request["source"])
    islands = request["islands"]
    own = [line for line in _IMPORTS if line not in model.imports]
    return "\n".join(
        [
            f"# ModelNew for the task {request['name']}, exported by pragma: {len(islands)} kernels, and Torch's",
            "# operators between them. The C++ below is built on first use, on the machine that runs it.",
            *mode_note(request),
            *model.notes(),
            *sorted(model.imports, key=lambda line: "__future__" not in line),
            *own,
            _HELPERS,
            *(_island(number, island) for number, island in enumerate(islands)),
            *written_constants(request["arguments"]),
            *model.helpers,
            "",
            model.class_text(_forward(request, model)),
            "",
        ]
    )


def _island(number: int, island: dict[str, Any]) -> str:
    link = ["-fopenmp"] if "-fopenmp" in island["flags"] else []
    # The function's own names: those of the module's values may be any, also "owner" or "scratch".
    parameters = [f"x{i}" for i in range(len(island["arguments"]))]
    lines = [
        f"a{i} = _pragma_ready({name}, {tuple(a['shape'])!r}, torch.{a['dtype']}, {a['value']!r})"
        for i, (name, a) in enumerate(zip(parameters, island["arguments"], strict=True))
    ]
    outputs = [f"o{i}" for i in range(len(island["outputs"]))]
    for name, spec in zip(outputs, island["outputs"], strict=True):
        lines.append(f"{name} = torch.empty({tuple(spec['shape'])!r}, dtype=torch.{spec['dtype']})")
    passed = [*(f"a{i}" for i in range(len(parameters))), *outputs]
    if island["packed_bytes"] > 0:
        lines += _prepare_lines(number, island, parameters)
        passed.append("packed")
    lines += _call(number, passed, island["scratch_bytes"])
    body = "\n".join("    " + line for line in [*lines, f"return {', '.join(outputs)}"])
    return "\n".join(
        [
            f"_PRAGMA_LIBRARY_{number} = _pragma_library(",
            f"    {'pragma_' + island['candidate']!r},",
            f"    {island['compiler']!r},",
            f"    {['-std=c++20', *island['flags']]!r},",
            f"    {link!r},",
            f"    {island['needs']!r},",
            f"    {literal(one_source(island['header'], island['kernel']))},",
            ")",
            "",
            "",
            f"def _pragma_island_{number}(owner{''.join(', ' + name for name in parameters)}):",
            body,
            "",
        ]
    )


def _call(number: int, passed: list[str], scratch_bytes: int) -> list[str]:
    lines = [f"scratch = _pragma_scratch({number}, {scratch_bytes})"] if scratch_bytes > 0 else []
    pointers = [f"ctypes.c_void_p({name}.data_ptr())" for name in passed]
    pointers.append("ctypes.c_void_p(scratch.data_ptr())" if scratch_bytes > 0 else "None")
    lines.append(f"_PRAGMA_LIBRARY_{number}.pragma_kernel({', '.join(pointers)})")
    return [*lines, *([f"_PRAGMA_KEPT[{number}] = scratch"] if scratch_bytes > 0 else [])]


def _prepare_lines(number: int, island: dict[str, Any], parameters: list[str]) -> list[str]:
    """pragma_prepare runs again whenever a parameter is a different tensor or was written to."""
    state = [(i, name) for i, (name, a) in enumerate(zip(parameters, island["arguments"], strict=True)) if a["role"] != "input"]
    key = "(" + "".join(f"{name}.data_ptr(), {name}._version, " for _, name in state) + ")"
    pointers = ", ".join(f"ctypes.c_void_p(a{i}.data_ptr())" for i, _ in state)
    return [
        f"key = {key}",
        f"kept = owner.__dict__.get('_pragma_packed_{number}')",
        "if kept is None or kept[0] != key:",
        f"    kept = key, torch.empty({island['packed_bytes']}, dtype=torch.uint8)",
        f"    _PRAGMA_LIBRARY_{number}.pragma_prepare({pointers}, ctypes.c_void_p(kept[1].data_ptr()))",
        f"    owner.__dict__['_pragma_packed_{number}'] = kept",
        "packed = kept[1]",
    ]


def _forward(request: dict[str, Any], model: TaskSource) -> list[str]:
    lines = mode_check(request, model.self_name)
    lines += [f"{a['value']} = {value_of(a, model)}" for a in request["arguments"] if a["value"] != value_of(a, model)]
    for step in request["steps"]:
        if step["island"] < 0:
            lines.append(step["line"])
            continue
        island = request["islands"][step["island"]]
        results = ", ".join(o["value"] for o in island["outputs"])
        given = "".join(", " + a["value"] for a in island["arguments"])
        lines.append(f"{results} = _pragma_island_{step['island']}({model.self_name}{given})")
    return [*lines, *last_lines(request, model, request["results"])]


if __name__ == "__main__":
    sys.exit(answer(write))
