"""What the writers of solutions share."""

from __future__ import annotations

import ast
import re


class Refused(Exception):
    """Why no drop-in can be written, in one line."""


def is_text(node: ast.stmt) -> bool:
    """A docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def defined(body: list[ast.stmt]) -> set[str]:
    """The names that statements of a top level give a value to."""
    found = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        found |= {part.id for t in targets if t is not None for part in ast.walk(t) if isinstance(part, ast.Name)}
    return found


def one_source(header: str, kernel: str) -> str:
    """Header and kernel as one translation unit; the first #include "kernel.h" becomes the header."""
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


def literal(text: str) -> str:
    """A raw triple-quoted string where that is exact, else repr."""
    if "'''" in text or text.endswith("'") or text.endswith("\\"):
        return repr(text)
    return "r'''\n" + text + "'''"
