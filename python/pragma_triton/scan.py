"""python -I -S scan.py SOLUTION: checks whether a Triton module contains only what such a module needs. JSON on stdout.

It is an allow-list, applied to the syntax tree without running anything: kernels (@triton.jit), host functions that do
arithmetic on shapes and launch those kernels, and constants. Anything else is rejected with its line and with what to
write instead. So the host side cannot compute with torch, keep anything from one call to the next, or inspect the
process it runs in. This reduces what the jail has to withstand. The verdict rests on the values.

{"reject": TEXT | null, "syntax": {"line", "column", "message", "text"} | null, "notes": [TEXT, ...]}
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
import sys
from collections.abc import Iterable
from typing import Any

# In an isolated run of this file its own package is not on the path.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pragma_triton.module import (  # noqa: E402
    ADVICE,
    CLOCKS,
    DTYPES,
    NO_CLOCK,
    TORCH,
    TRITON,
    Module,
    Refused,
    called,
    from_triton_language,
    warmed,
)

_BUILTINS = {
    "abs", "bool", "divmod", "enumerate", "float", "int", "len", "list", "max", "min", "range",
    "round", "str", "sum", "tuple", "zip", "any", "all", "isinstance", "True", "False", "None",
}  # fmt: skip
# Attributes of a tensor or a tuple on the host: shapes and views.
_HOST_ATTRIBUTES = {
    "shape", "size", "stride", "numel", "ndim", "dim", "dtype", "device", "itemsize", "element_size",
    "is_contiguous", "view", "reshape", "flatten", "permute", "transpose", "unsqueeze", "squeeze",
    "expand", "narrow", "zero_", "T", "mT", "bit_length",
}  # fmt: skip
_AUTOTUNE = {"configs", "key", "reset_to_zero", "restore_value", "warmup", "rep", "values"}
_CONFIG = {"num_warps", "num_stages", "num_ctas", "maxnreg", "kwargs"}
# What the value of a constant may call: functions that return a number, a string or a tuple.
_CONSTANT_CALLS = {"abs", "bool", "float", "int", "len", "max", "min", "range", "round", "str", "sum", "tuple"}
_CONSTANT_PATHS = {"triton.cdiv", "triton.next_power_of_2", "triton.language.constexpr"}
# Number of positional arguments that are allowed. The hooks of triton.Config come after these.
_POSITIONAL = {"triton.jit": 0, "triton.autotune": 2, "triton.heuristics": 1, "triton.Config": 5}
_CLOCK_IN_ASSEMBLY = re.compile(r"%\s*(clock|globaltimer|gridid|pm[0-9])|\bglobaltimer", re.IGNORECASE)
_STATEMENTS = (
    ast.FunctionDef, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.While, ast.If,
    ast.Assert, ast.Expr, ast.Pass, ast.Break, ast.Continue,
)  # fmt: skip
_FORBIDDEN = {
    ast.Try: "try: let errors show",
    ast.With: "with",
    ast.Global: "global: nothing may be kept from one call to the next",
    ast.Nonlocal: "nonlocal: nothing may be kept from one call to the next",
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "async",
    ast.Import: "an import inside a function",
    ast.ImportFrom: "an import inside a function",
    ast.Delete: "del",
    ast.Raise: "raise",
}
_PLAIN = (
    "the top level keeps numbers, strings, types, tuples of them and compiled kernels, nothing that can change; "
    "make it in run"
)


def _bound(function: ast.FunctionDef) -> set[str]:
    """Returns every name to which a function assigns a value, in itself and in nested functions."""
    names = {function.name}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return names


class _Checker:
    """Checks one function's body, or the value of a constant."""

    def __init__(self, module: Module, own: set[str], in_kernel: bool) -> None:
        self._module = module
        self._names = own | set(module.imports) | set(module.functions) | module.constants | _BUILTINS
        self._in_kernel = in_kernel

    def check(self, nodes: Iterable[ast.AST]) -> None:
        for top in nodes:
            for node in ast.walk(top):
                self._node(node)

    def _node(self, node: ast.AST) -> None:
        if type(node) in _FORBIDDEN:
            raise Refused(node, f"{_FORBIDDEN[type(node)]} is not allowed in a Triton candidate")
        if isinstance(node, ast.stmt) and not isinstance(node, _STATEMENTS):
            raise Refused(node, f"{type(node).__name__.lower()} is not allowed in a Triton candidate")
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            self._targets(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, ast.Call) and not self._in_kernel:
            self._host_call(node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            raise Refused(node, "@ multiplies with torch; write it as a kernel")

    def _targets(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for part in ast.walk(target):
                if isinstance(part, ast.Attribute | ast.Subscript):
                    raise Refused(node, "only names are assigned; write results with tl.store")

    def _name(self, node: ast.Name) -> None:
        if node.id.startswith("__") or node.id not in self._names:
            raise Refused(node, f"{node.id} is not available to a Triton candidate")

    def _attribute(self, node: ast.Attribute) -> None:
        if node.attr.startswith("_"):
            raise Refused(node, f".{node.attr} is not allowed in a Triton candidate")
        if node.attr in CLOCKS:
            raise Refused(node, f".{node.attr}: {NO_CLOCK}")
        path = self._module.path(node)
        if self._in_kernel or from_triton_language(path) or path.startswith("math."):
            return
        if path.startswith("torch."):
            allowed = TORCH
        elif path.startswith("triton."):
            allowed = TRITON | {"language"}
        else:
            allowed = _HOST_ATTRIBUTES
        if node.attr not in allowed:
            raise Refused(node, f"{path or '.' + node.attr} is not allowed on the host side: {ADVICE}")

    def _host_call(self, node: ast.Call) -> None:
        callee = node.func
        if isinstance(callee, ast.Subscript):  # kernel[grid](...)
            launched = callee.value.id if isinstance(callee.value, ast.Name) else ""
            if launched not in self._module.kernels | self._module.built:
                raise Refused(node, "only kernels of this file are launched: kernel[grid](...)")
            if launched in self._module.built and node.keywords:
                raise Refused(node, f"{launched} is compiled: it is launched with its arguments alone")
        elif isinstance(callee, ast.Name) and callee.id in self._module.kernels:
            raise Refused(node, f"{callee.id} is a kernel: launch it with a grid, {callee.id}[grid](...)")
        elif not isinstance(callee, ast.Name | ast.Attribute):
            raise Refused(node, "this call is not allowed on the host side: " + ADVICE)


def _check_function(module: Module, function: ast.FunctionDef) -> None:
    in_kernel = function.name in module.kernels
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node is not function:
            raise Refused(node, "functions inside functions are not allowed")
    for default in [*function.args.defaults, *function.args.kw_defaults]:
        if default is not None and not isinstance(default, ast.Constant | ast.Attribute | ast.UnaryOp):
            raise Refused(default, "a default must be a constant")
    _Checker(module, _bound(function), in_kernel).check(function.body)
    if not in_kernel and function.decorator_list:
        raise Refused(function, "only kernels have decorators")
    for decorator in function.decorator_list:
        _check_decorator(module, decorator)


def _check_value(module: Module, value: ast.expr) -> None:
    """Checks a top-level value or that of a decorator. It may bind its own names (lambdas, comprehensions)."""
    own = {n.arg for n in ast.walk(value) if isinstance(n, ast.arg)}
    own |= {n.id for n in ast.walk(value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in ast.walk(value):
        if isinstance(node, ast.Lambda) and (node.args.defaults or any(node.args.kw_defaults)):
            raise Refused(node, "a lambda out here has no defaults: write the value into its body")
    _Checker(module, own, False).check([value])


def _check_constant(module: Module, name: str, node: ast.expr) -> None:
    """Checks the value of a top-level constant, which lives as long as the process."""
    inside: Iterable[ast.expr] = ()
    path = module.path(node)
    if isinstance(node, ast.Constant) or path.removeprefix("torch.") in DTYPES:
        return
    if path.startswith("math.") or from_triton_language(path):
        return
    if isinstance(node, ast.Name) and node.id in module.constants - module.tuning:
        return
    if isinstance(node, ast.UnaryOp):
        inside = [node.operand]
    elif isinstance(node, ast.BinOp):
        inside = [node.left, node.right]
    elif isinstance(node, ast.BoolOp):
        inside = node.values
    elif isinstance(node, ast.Compare):
        inside = [node.left, *node.comparators]
    elif isinstance(node, ast.IfExp):
        inside = [node.test, node.body, node.orelse]
    elif isinstance(node, ast.Tuple):
        inside = node.elts
    elif isinstance(node, ast.Subscript):
        inside = [node.value, node.slice]
    elif isinstance(node, ast.Call) and not node.keywords and _gives_constant(module, node.func):
        inside = node.args
    else:
        raise Refused(node, f"{name} is not a plain constant: {_PLAIN}")
    for part in inside:
        _check_constant(module, name, part)


def _gives_constant(module: Module, callee: ast.expr) -> bool:
    if isinstance(callee, ast.Name) and callee.id in _CONSTANT_CALLS:
        return True
    path = module.path(callee)
    return path in _CONSTANT_PATHS or path.startswith("math.")


def _check_tuning(module: Module, tree: ast.Module) -> None:
    """A list of configurations may be used only in decorators, because elsewhere it could be extended."""
    decorators = {
        id(node)
        for function in module.functions.values()
        for decorator in function.decorator_list
        for node in ast.walk(decorator)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (path := module.path(node.func)) in _POSITIONAL:
            if len(node.args) > _POSITIONAL[path] or any(isinstance(a, ast.Starred) for a in node.args):
                raise Refused(node, f"{path} with that many arguments: name them")
            if path == "triton.Config" and (odd := {k.arg for k in node.keywords} - _CONFIG):
                raise Refused(node, f"{odd.pop()}= is not allowed in triton.Config")
        if not isinstance(node, ast.Name) or node.id not in module.tuning or id(node) in decorators:
            continue
        if isinstance(node.ctx, ast.Load):
            raise Refused(node, f"{node.id} is a list of configurations: only decorators may use it")


def _check_assembly(module: Module, tree: ast.Module) -> None:
    """The text of inline assembly must be a literal that can be read, and must not name a clock."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name | ast.Attribute) or "inline_asm" not in module.path(node):
            continue
        call = called.get(id(node))
        if call is None:
            raise Refused(node, "inline assembly is called where it is named")
        texts = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("asm", None))]
        text = texts[0].value if len(texts) == 1 and isinstance(texts[0], ast.Constant) else None
        if not isinstance(text, str):
            raise Refused(call, "the text of inline assembly is one string literal, given first or as asm=")
        if found := _CLOCK_IN_ASSEMBLY.search(text):
            raise Refused(call, f"inline assembly reads {found.group()}: {NO_CLOCK}")


def _check_warmup(module: Module, call: ast.Call) -> None:
    """Allows types, constants and options. The result may only be launched."""
    parameters = {a.arg for a in module.functions[warmed(call)].args.args}
    for keyword in call.keywords:
        if keyword.arg not in (_CONFIG - {"kwargs"}) | {"grid"} | parameters:
            raise Refused(call, f"{keyword.arg}= is not allowed in warmup")
        _check_value(module, keyword.value)
    for argument in call.args:
        _check_value(module, argument)


def _check_decorator(module: Module, node: ast.expr) -> None:
    path = module.path(called(node))
    if path not in ("triton.jit", "triton.autotune", "triton.heuristics"):
        raise Refused(node, "decorators are triton.jit, triton.autotune and triton.heuristics")
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            tuned = module.path(call.func) == "triton.Config"
            for keyword in call.keywords:
                if keyword.arg not in (_CONFIG if tuned else _AUTOTUNE | {"do_not_specialize"}):
                    raise Refused(call, f"{keyword.arg}= is not allowed in a decorator")
    _check_value(module, node)


def _check(tree: ast.Module) -> None:
    module = Module(tree)
    _check_tuning(module, tree)
    _check_assembly(module, tree)
    for name in [*module.functions, *module.constants]:
        if name in module.imports or name in _BUILTINS:
            raise Refused(tree.body[0], f"{name} is defined a second time")
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and module.is_warmup(statement.value):
            _check_warmup(module, statement.value)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            _check_value(module, statement.value)
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and target.id not in module.tuning:
                _check_constant(module, target.id, statement.value)
    for function in module.functions.values():
        _check_function(module, function)
    if "run" not in module.functions:
        raise Refused(tree, "defines no function run(inputs..., outputs...)")
    if not module.kernels:
        raise Refused(tree, "has no kernel: a function with @triton.jit")
    if not any(_launches(f) for name, f in module.functions.items() if name not in module.kernels):
        raise Refused(tree, "launches none of its kernels")


def _launches(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript) for n in ast.walk(function))


def _notes(tree: ast.Module) -> list[str]:
    assembly = [
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and n.attr.startswith("inline_asm")
    ]
    return [f"line {line}: inline assembly, which no look at the source follows" for line in assembly]


def scan(source: str) -> dict[str, Any]:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        where = {"line": error.lineno or 0, "column": error.offset or 0}
        said = {"message": str(error.msg), "text": (error.text or "").rstrip()}
        return {"reject": None, "syntax": where | said, "notes": []}
    except (ValueError, RecursionError, MemoryError) as error:
        return {"reject": f"cannot be parsed: {error}", "syntax": None, "notes": []}
    try:
        _check(tree)
    except Refused as refused:
        return {"reject": str(refused), "syntax": None, "notes": []}
    except RecursionError:
        return {"reject": "nested too deeply to be looked at", "syntax": None, "notes": []}
    return {"reject": None, "syntax": None, "notes": _notes(tree)}


def main() -> int:
    with open(sys.argv[1], encoding="utf-8", errors="replace") as stream:
        print(json.dumps(scan(stream.read())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
