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
import re
import sys
from collections.abc import Iterable
from typing import Any, TypeGuard

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
_BUILTINS = {
    "abs", "bool", "divmod", "enumerate", "float", "int", "len", "list", "max", "min", "range",
    "round", "str", "sum", "tuple", "zip", "any", "all", "isinstance", "True", "False", "None",
}  # fmt: skip
_DTYPES = {
    "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool",
}  # fmt: skip
# What host code may use from a module: nothing that computes, except filling with zeros.
_TORCH = _DTYPES | {"empty", "empty_like", "zeros", "zeros_like", "Tensor", "Size", "dtype"}
_TRITON = {"cdiv", "next_power_of_2", "jit", "autotune", "heuristics", "Config"}
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
_CLOCKS = {"clock", "clock64", "globaltimer"}
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


_ADVICE = "only shapes, views, torch.empty, torch.zeros and launches; compute in kernels"


_PLAIN = (
    "the top level keeps numbers, strings, types, tuples of them and compiled kernels, nothing that can change; "
    "make it in run"
)
_NO_CLOCK = "a kernel may not look at a clock or count launches; it computes from its arguments alone"


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
            known = {"torch": _TORCH, "triton": _TRITON | {"language"}}.get(module or "")
            if item.name in _CLOCKS:
                raise Refused(node, f"imports {full}: {_NO_CLOCK}")
            if (known is not None and item.name not in known) or item.name.startswith("_"):
                raise Refused(node, f"imports {full}, which is not on the list: {_ADVICE}")
            self.imports[item.asname or item.name.split(".")[0]] = (
                full if item.asname or module else full.split(".")[0]
            )

    def _is_kernel(self, function: ast.FunctionDef) -> bool:
        return any(self.path(d) == "triton.jit" for d in map(_called, function.decorator_list))

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
        return isinstance(node, ast.Call) and _warmed(node) in self.kernels

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


def _warmed(call: ast.Call) -> str:
    """Returns "name" for name.warmup(...), else an empty string."""
    callee = call.func
    if isinstance(callee, ast.Attribute) and callee.attr == "warmup" and isinstance(callee.value, ast.Name):
        return callee.value.id
    return ""


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _from_triton_language(path: str) -> bool:
    return path == "triton.language" or path.startswith("triton.language.")


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
        if node.attr in _CLOCKS:
            raise Refused(node, f".{node.attr}: {_NO_CLOCK}")
        path = self._module.path(node)
        if self._in_kernel or _from_triton_language(path) or path.startswith("math."):
            return
        if path.startswith("torch."):
            allowed = _TORCH
        elif path.startswith("triton."):
            allowed = _TRITON | {"language"}
        else:
            allowed = _HOST_ATTRIBUTES
        if node.attr not in allowed:
            raise Refused(node, f"{path or '.' + node.attr} is not allowed on the host side: {_ADVICE}")

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
            raise Refused(node, "this call is not allowed on the host side: " + _ADVICE)


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
    if isinstance(node, ast.Constant) or path.removeprefix("torch.") in _DTYPES:
        return
    if path.startswith("math.") or _from_triton_language(path):
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
            raise Refused(call, f"inline assembly reads {found.group()}: {_NO_CLOCK}")


def _check_warmup(module: Module, call: ast.Call) -> None:
    """Allows types, constants and options. The result may only be launched."""
    parameters = {a.arg for a in module.functions[_warmed(call)].args.args}
    for keyword in call.keywords:
        if keyword.arg not in (_CONFIG - {"kwargs"}) | {"grid"} | parameters:
            raise Refused(call, f"{keyword.arg}= is not allowed in warmup")
        _check_value(module, keyword.value)
    for argument in call.args:
        _check_value(module, argument)


def _check_decorator(module: Module, node: ast.expr) -> None:
    path = module.path(_called(node))
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
