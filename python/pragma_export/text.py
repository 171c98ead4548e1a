"""Functions that the writers of solutions share."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from typing import Any

LOADED = "\n\n_PRAGMA_LIBRARY = _pragma_library()\n"


class Refused(Exception):
    """The reason, in one line, why no drop-in can be written."""


def answer(write: Callable[[dict[str, Any]], str]) -> int:
    """Writes the solution that the request on stdin asks for. Returns the exit status: 1 if there is none, with one line
    on stderr that says why."""
    try:
        text = write(json.load(sys.stdin))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.write(text)
    return 0


def is_text(node: ast.stmt) -> bool:
    """Returns true for a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def defined(body: list[ast.stmt]) -> set[str]:
    """Returns the names to which top-level statements assign a value."""
    found = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {part.id for t in targets if t is not None for part in ast.walk(t) if isinstance(part, ast.Name)}
    return found


def one_source(header: str, kernel: str) -> str:
    """Returns header and kernel as one translation unit. The first #include "kernel.h" is replaced by the header."""
    header = re.sub(r"^\s*#\s*pragma\s+once\s*$", "", header, flags=re.MULTILINE)
    lines: list[str] = []
    placed = False
    for line in kernel.splitlines():
        if re.match(r'\s*#\s*include\s*"kernel\.h"', line):
            if not placed:
                lines += header.splitlines()
            placed = True
        else:
            lines.append(line)
    return "\n".join(lines if placed else header.splitlines() + lines) + "\n"


def mode_note(request: dict[str, Any]) -> list[str]:
    """Returns the line of the title that names the mode, where the module's results depend on it."""
    mode = request.get("mode", "")
    return [f"# mode: {mode}. In the other mode the module computes something else, which forward refuses."] if mode else []


def mode_check(request: dict[str, Any], self_name: str) -> list[str]:
    """Returns the lines of forward that refuse a module in another mode than the one that the kernel is for."""
    mode = request.get("mode", "")
    if not mode:
        return []
    training = mode == "training"
    other, call, flag = ("eval", "train()", "with") if training else ("training", "eval()", "without")
    said = (
        f"this ModelNew is for {mode} mode, but the module is in {other} mode: call {call}, or make another ModelNew, "
        f"{flag} --eval"
    )
    return [f"if {self_name}.training is not {training}:", f"    raise RuntimeError({said!r})"]


def literal(text: str) -> str:
    """Returns a raw triple-quoted string if that is exact, otherwise the repr."""
    if "'''" in text or text.endswith("'") or text.endswith("\\"):
        return repr(text)
    return "r'''\n" + text + "'''"


def ready(device: str, alignment: int) -> str:
    """Returns the function of a solution that accepts one tensor as a kernel's argument."""
    return f'''
def _pragma_ready(tensor, shape, dtype, name):
    if tensor.shape != shape or tensor.dtype != dtype or not tensor.is_{device}:
        found = f"{{tensor.dtype}} {{tuple(tensor.shape)}} on {{tensor.device}}"
        raise ValueError(f"{{name}} must be {{dtype}} {{shape}} on {device}, not {{found}}")
    tensor = tensor.detach() if tensor.requires_grad else tensor
    if tensor.is_contiguous() and tensor.data_ptr() % {alignment} == 0:
        return tensor
    return tensor.clone(memory_format=torch.contiguous_format)
'''


def build_and_load(**arguments: str) -> str:
    """Returns the last lines of a function of a solution that has a source built and loads the library. `arguments` are
    those of load_inline, as text."""
    given = "".join(f"        {name}={value},\n" for name, value in arguments.items())
    return f"""    known = load_inline.__code__.co_varnames
    plain = {{"no_implicit_headers": True}} if "no_implicit_headers" in known else {{}}  # since Torch 2.8
    path = load_inline(
{given}        is_python_module=False,
        **plain,
    )
    return ctypes.CDLL(path)
"""


def kept_scratch(parameters: str, key: str) -> str:
    """Returns the function of a solution that hands out scratch memory on a CPU. It is kept between calls under `key`,
    because page faults on new memory in each call can cost more than the kernel. A dict's pop and assignment are atomic,
    so a second thread that calls meanwhile makes its own."""
    return f"""def _pragma_scratch({parameters}):
    kept = _PRAGMA_KEPT.pop({key}, None)
    return torch.empty(size, dtype=torch.uint8) if kept is None else kept
"""


def library_call(function: str, passed: list[str], scratch_bytes: int, device: str = "", last: str = "") -> list[str]:
    """Returns the lines of forward that call a built library. `device` says where scratch is made, as an argument of
    torch.empty. If it is empty, scratch is on the CPU and is kept. `last` is an argument after scratch."""
    lines, after = [], []
    if scratch_bytes > 0 and device:
        lines.append(f"scratch = torch.empty({scratch_bytes}, dtype=torch.uint8{device})")
    elif scratch_bytes > 0:
        lines.append(f"scratch = _pragma_scratch({scratch_bytes})")
        after.append('_PRAGMA_KEPT["scratch"] = scratch')
    pointers = [f"ctypes.c_void_p({name}.data_ptr())" for name in [*passed, *(["scratch"] if scratch_bytes > 0 else [])]]
    if scratch_bytes == 0:
        pointers.append("None")
    if last:
        pointers.append(last)
    return [*lines, f"_PRAGMA_LIBRARY.{function}(", *(f"    {pointer}," for pointer in pointers), ")", *after]


def return_text(request: dict[str, Any], outputs: list[str], names: set[str]) -> str:
    """Returns the expression that gives back what Model's forward gives back. `names` are those that the written file
    has at its top level."""
    kind, tree = request["output_kind"], request.get("output_tree", "")
    if kind == "tensor":
        return outputs[0]
    if kind == "list":
        return f"[{', '.join(outputs)}]"
    if kind == "tuple" or not tree:
        return f"({', '.join(outputs)},)"
    return _tree_text(json.loads(tree), outputs, names)


def _tree_text(tree: Any, outputs: list[str], names: set[str]) -> str:
    """`tree` is described in pragma_torch/tree.py."""
    kind, content = next(iter(tree.items()))
    if kind in ("leaf", "pairs"):
        return outputs[content]
    if kind == "value":
        return repr(content)
    if kind == "float":
        return content if content.lstrip("-")[:1].isdigit() else f"float({content!r})"
    if kind == "list":
        return f"[{', '.join(_tree_text(item, outputs, names) for item in content)}]"
    if kind == "tuple":
        return f"({''.join(_tree_text(item, outputs, names) + ', ' for item in content).rstrip()})"
    if kind == "dict":
        return f"{{{', '.join(f'{key!r}: {_tree_text(item, outputs, names)}' for key, item in content)}}}"
    return _object_text(kind, content, outputs, names)


def _object_text(kind: str, content: Any, outputs: list[str], names: set[str]) -> str:
    """Returns the making of a named tuple or dataclass."""
    of = content["class"]
    items = [(name, _tree_text(item, outputs, names)) for name, item in content["items"]]
    if of.startswith("torch.return_types."):
        return f"{of}(({''.join(text + ', ' for _, text in items).rstrip()}))"
    if of.split(".")[0] not in names:
        raise Refused(f"forward returns a {of}, which the top of the task's file does not define")
    if kind == "named":
        return f"{of}({', '.join(text for _, text in items)})"
    return f"{of}({', '.join(f'{name}={text}' for name, text in items)})"
