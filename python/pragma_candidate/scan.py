"""python -I -S scan.py SOLUTION: reports what can be seen in a solution without running it, as JSON on stdout.

These are tripwires and not proofs: an author who wants to hide something from an inspection of the syntax tree can do
so. The verdict is protected because nothing that decides it is in the candidate's process. So only code without any
honest use is rejected. The rest is noted for people.

{"reject": TEXT | null, "syntax": {"line", "column", "message", "text"} | null, "notes": [TEXT, ...]}
"""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

# Functions that a judge inside the process would use. Settings (torch.backends...) may be changed freely.
_JUDGES = {
    "torch.allclose",
    "torch.equal",
    "torch.isclose",
    "torch.cuda.synchronize",
    "torch.cuda.Event",
    "torch.cuda.Event.record",
    "torch.cuda.Event.elapsed_time",
    "torch.cuda.Event.synchronize",
    "torch.testing.assert_close",
    "torch.Tensor.copy_",
    "torch.Tensor.data_ptr",
    "time.time",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.monotonic",
    "time.monotonic_ns",
}
_FRAMES = {"sys._getframe", "inspect.stack", "inspect.currentframe", "inspect.trace", "sys._current_frames"}
_WALKS = {"gc.get_objects", "gc.get_referrers", "gc.get_referents"}
_FRAME_ATTRIBUTES = {"f_back", "f_locals", "f_globals", "tb_frame"}
_SETTINGS = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.")
_KERNELS = ("torch.utils.cpp_extension.", "ctypes.", "triton.")


class _Scan(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # the object that an imported name refers to
        self.reject: str | None = None
        self.notes: list[str] = []
        self.kernels: set[str] = set()

    def note(self, node: ast.AST, text: str) -> None:
        line = f"line {getattr(node, 'lineno', 0)}: {text}"
        if line not in self.notes:
            self.notes.append(line)

    def turn_away(self, node: ast.AST, text: str) -> None:
        self.reject = self.reject or f"line {getattr(node, 'lineno', 0)}: {text}"

    def path(self, node: ast.AST) -> str:
        """Returns "torch.cuda.synchronize" for an attribute chain that starts at an imported name."""
        if isinstance(node, ast.Attribute):
            owner = self.path(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, "")
        return ""

    def visit_Import(self, node: ast.Import) -> None:
        for item in node.names:
            self.names[item.asname or item.name.split(".")[0]] = (
                item.name if item.asname else item.name.split(".")[0]
            )
            self._imported(node, item.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for item in node.names:
            full = f"{node.module}.{item.name}"
            self.names[item.asname or item.name] = full
            self._imported(node, full)
            self._refuse(node, full)

    def _imported(self, node: ast.AST, name: str) -> None:
        if name.split(".")[0] == "ctypes":
            self.note(node, "uses ctypes")
        if name.split(".")[0] in ("subprocess", "socket", "multiprocessing", "threading"):
            self.note(node, f"imports {name}")

    def _used(self, node: ast.AST, path: str) -> None:
        self._refuse(node, path)
        if path == "sys.modules":
            self.note(node, "touches sys.modules")
        if f"{path}.".startswith(_KERNELS) and path != "torch.utils.cpp_extension":
            self.kernels.add(path)

    def _refuse(self, node: ast.AST, path: str) -> None:
        if path in _FRAMES:
            self.turn_away(node, f"{path} looks at the frames of its callers, which no kernel needs")
        if path in _WALKS:
            self.turn_away(node, f"{path} walks objects that are not its own")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self.path(node)
        self._used(node, path)
        if node.attr in _FRAME_ATTRIBUTES:
            self.turn_away(node, f"{node.attr} reads frames of its callers, which no kernel needs")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._used(node, self.path(node))

    def _assigned(self, target: ast.AST) -> None:
        if not isinstance(target, ast.Attribute):
            return
        path = self.path(target)
        if path in _JUDGES:
            self.turn_away(target, f"replaces {path}")
        elif path.split(".")[0] in ("torch", "time", "sys", "builtins") and not path.startswith(_SETTINGS):
            self.note(target, f"replaces {path}")

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._assigned(target)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._assigned(node.target)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:
            name = str(node.args[1].value) if isinstance(node.args[1], ast.Constant) else "?"
            path = f"{self.path(node.args[0])}.{name}"
            if path in _JUDGES:
                self.turn_away(node, f"replaces {path}")
            elif path.split(".")[0] in ("torch", "time", "sys", "builtins"):
                self.note(node, f"replaces {path}")
        if isinstance(node.func, ast.Name) and node.func.id in ("exec", "eval"):
            self.note(node, f"calls {node.func.id}")
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        catches_all = any(
            handler.type is None or self._general(handler.type) for handler in node.handlers
        )
        if catches_all:
            self.note(node, "falls back where something fails: what ran is then not known")
        self.generic_visit(node)

    @staticmethod
    def _general(kind: ast.expr) -> bool:
        names = [n.id for n in ast.walk(kind) if isinstance(n, ast.Name)]
        return bool({"Exception", "BaseException", "RuntimeError"} & set(names))


def _binds_model(tree: ast.Module) -> bool:
    """Returns true if the file can define ModelNew. A star import or exec can define anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == "ModelNew":
            return True
        if isinstance(node, ast.Name) and node.id == "ModelNew" and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in ("ModelNew", "*"):
            return True
        if isinstance(node, ast.Name) and node.id in ("exec", "globals", "setattr"):
            return True
    return False


def scan(source: str) -> dict[str, Any]:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        where = {"line": error.lineno or 0, "column": error.offset or 0}
        said = {"message": str(error.msg), "text": (error.text or "").rstrip()}
        return {"reject": None, "syntax": where | said, "notes": []}
    except (ValueError, RecursionError, MemoryError) as error:
        return {"reject": f"cannot be parsed: {error}", "syntax": None, "notes": []}
    found = _Scan()
    try:
        found.visit(tree)
    except RecursionError:
        found.turn_away(tree, "nested too deeply to be looked at")
    if not _binds_model(tree):
        found.turn_away(tree, "defines no class ModelNew")
    if not found.kernels:
        found.notes.insert(0, "no kernel of its own: only calls torch")
    return {"reject": found.reject, "syntax": None, "notes": found.notes[:20]}


def main() -> int:
    with open(sys.argv[1], encoding="utf-8", errors="replace") as stream:
        print(json.dumps(scan(stream.read())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
