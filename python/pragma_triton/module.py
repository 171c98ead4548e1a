"""What the top level of a Triton module defines, and what may be imported there (scan.py)."""

from __future__ import annotations

import ast
from typing import TypeGuard

_MODULES = {
    "math",
    "torch",
    "triton",
    "triton.language",
    "triton.language.extra",
    "triton.language.extra.libdevice",
    "triton.language.extra.cuda",
    "triton.language.extra.cuda.libdevice",
}
DTYPES = {
    "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool",
}  # fmt: skip
# What host code may use from a module: nothing that computes, except filling with zeros.
TORCH = DTYPES | {"empty", "empty_like", "zeros", "zeros_like", "Tensor", "Size", "dtype"}
TRITON = {"cdiv", "next_power_of_2", "jit", "autotune", "heuristics", "Config"}
CLOCKS = {"clock", "clock64", "globaltimer"}
ADVICE = "only shapes, views, torch.empty, torch.zeros and launches; compute in kernels"
NO_CLOCK = "a kernel may not look at a clock or count launches; it computes from its arguments alone"


class Refused(Exception):
    def __init__(self, node: ast.AST, text: str) -> None:
        super().__init__(f"line {getattr(node, 'lineno', 0)}: {text}")


class Module:
    """What the module's top level defines."""

    def __init__(self, tree: ast.Module) -> None:
        self.imports: dict[str, str] = {}  # name here -> object that it refers to
        self.functions: dict[str, ast.FunctionDef] = {}
        self.constants: set[str] = set()
        for statement in tree.body:
            self._take(statement)
        # Lists of configurations for triton.autotune.
        self.tuning = {name for s in tree.body if self._is_tuning(s) for name in _assigned(s)}
        self.kernels = {name for name, f in self.functions.items() if self._is_kernel(f)}
        # Kernels that were compiled when the module was loaded: name = kernel.warmup(...)
        self.built = {name for s in tree.body if self._is_built(s) for name in _assigned(s)}

    def _take(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._take_import(node)
        elif isinstance(node, ast.FunctionDef):
            self.functions[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if not isinstance(target, ast.Name):
                    raise Refused(node, "only plain names are assigned at the top level")
                self.constants.add(target.id)
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            raise Refused(node, "the top level has imports, constants and functions only")

    def _take_import(self, node: ast.Import | ast.ImportFrom) -> None:
        module = node.module if isinstance(node, ast.ImportFrom) else None
        if isinstance(node, ast.ImportFrom) and module == "__future__":
            return
        for item in node.names:
            full = f"{module}.{item.name}" if isinstance(node, ast.ImportFrom) else item.name
            if (module or full) not in _MODULES or item.name == "*":
                raise Refused(node, f"imports {full}; allowed: {', '.join(sorted(_MODULES)[:4])}")
            known = {"torch": TORCH, "triton": TRITON | {"language"}}.get(module or "")
            if item.name in CLOCKS:
                raise Refused(node, f"imports {full}: {NO_CLOCK}")
            if (known is not None and item.name not in known) or item.name.startswith("_"):
                raise Refused(node, f"imports {full}, which is not on the list: {ADVICE}")
            self.imports[item.asname or item.name.split(".")[0]] = (
                full if item.asname or module else full.split(".")[0]
            )

    def _is_kernel(self, function: ast.FunctionDef) -> bool:
        return any(self.path(d) == "triton.jit" for d in map(called, function.decorator_list))

    def _is_tuning(self, node: ast.stmt) -> bool:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            return False
        value = node.value
        made = value.elts if isinstance(value, ast.List) else [value.elt] if isinstance(value, ast.ListComp) else []
        return bool(made) and all(
            isinstance(m, ast.Call) and self.path(m.func) == "triton.Config" for m in made
        )

    def _is_built(self, node: ast.stmt) -> bool:
        return isinstance(node, ast.Assign) and len(node.targets) == 1 and self.is_warmup(node.value)

    def is_warmup(self, node: ast.AST) -> TypeGuard[ast.Call]:
        """Returns true for kernel.warmup(types..., grid=(1,)) with a kernel of this file."""
        return isinstance(node, ast.Call) and warmed(node) in self.kernels

    def path(self, node: ast.AST) -> str:
        """Returns "torch.cuda.synchronize" for a chain of attributes that starts at an imported name."""
        if isinstance(node, ast.Attribute):
            owner = self.path(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return self.imports.get(node.id, "") if isinstance(node, ast.Name) else ""


def _assigned(node: ast.stmt) -> set[str]:
    """Returns the plain names to which a statement assigns a value."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def warmed(call: ast.Call) -> str:
    """Returns "name" for name.warmup(...), else an empty string."""
    callee = call.func
    if isinstance(callee, ast.Attribute) and callee.attr == "warmup" and isinstance(callee.value, ast.Name):
        return callee.value.id
    return ""


def called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def from_triton_language(path: str) -> bool:
    return path == "triton.language" or path.startswith("triton.language.")
