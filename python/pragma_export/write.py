"""Writes a KernelBench solution (class ModelNew) from a task and a verified kernel.

It reads one JSON object on stdin (written by src/export/export.cc), and prints the Python file on stdout. The task's
source is parsed, never run. If the task's form does not allow a drop-in, the exit status is 1, with one line on stderr.

The constructor is the task's own, so that the same parameters are made in the same order and weights agree under one
seed. Only forward is replaced. KernelBench's static check rejects `try` and `pass`. What is written has neither of its
own; the task's `pass` becomes `...`, and its `try` stays and is named in the title.
"""

from __future__ import annotations

import ast
import keyword
import pathlib
import re
import sys
from collections.abc import Callable
from typing import Any

# In an isolated run of this file its own package is not on the path.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pragma_export.device import CudaKernel, TritonModule  # noqa: E402
from pragma_export.text import (  # noqa: E402
    LOADED,
    Refused,
    answer,
    build_and_load,
    defined,
    is_text,
    kept_scratch,
    library_call,
    literal,
    mode_check,
    mode_note,
    one_source,
    ready,
    return_text,
)

_DROPPED = {"get_inputs", "get_init_inputs"}
_INPUT_PATH = re.compile(r"(?:args\[(\d+)\]|kwargs\['(\w+)'\])(.*)", re.DOTALL)


def write(request: dict[str, Any]) -> str:
    model = TaskSource(request["source"])
    kernel = _KERNELS[request["language"]](request)
    _check_names(model, kernel)
    own = [line for line in dict.fromkeys(kernel.imports) if line not in model.imports]
    return "\n".join(
        [
            *_title(request, model, kernel),
            *sorted(model.imports, key=lambda line: "__future__" not in line),
            *own,
            "",
            *kernel.constants(),
            *written_constants(request["arguments"], "" if isinstance(kernel, CppKernel) else _ON_GPU),
            kernel.helpers,
            *model.helpers,
            "",
            model.class_text(_forward(request, model, kernel)),
            "",
        ]
    )


# Triton's interpreter runs a module where there is no GPU.
_ON_GPU = ".to('cuda' if torch.cuda.is_available() else 'cpu')"


def _check_names(model: TaskSource, kernel: Kernel) -> None:
    """One file contains both, so neither may define a name that the other uses."""
    common = model.names() & (kernel.names() if isinstance(kernel, TritonModule) else set())
    if common:
        raise Refused(f"the task and the Triton module both define {sorted(common)[0]}")


class TaskSource:
    """The task's file, split into its parts."""

    def __init__(self, source: str):
        tree = ast.parse(source)
        classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Model"]
        if len(classes) != 1:
            raise Refused("the task defines class Model in a way that cannot be copied")
        self._class = classes[0]
        self._forward = _method(self._class, "forward")
        arguments = self._forward.args
        names = [a.arg for a in arguments.posonlyargs + arguments.args]
        self.self_name, self.forward_names = names[0], names[1:]
        self._keyword_names = {a.arg for a in arguments.kwonlyargs}
        self._rest = arguments.vararg.arg if arguments.vararg else ""
        self._keywords = arguments.kwarg.arg if arguments.kwarg else ""
        self.imports: list[str] = []
        self.helpers: list[str] = []
        for node in tree.body:
            self._sort(node)

    def _sort(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imports.append(ast.unparse(node))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in _DROPPED | {"Model"}:
            return
        elif isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            return
        elif not is_text(node):
            self.helpers.append(ast.unparse(_Plain().visit(node)))

    def names(self) -> set[str]:
        """Returns the names that the remaining parts define at top level."""
        return defined([node for line in self.helpers for node in ast.parse(line).body])

    def notes(self) -> list[str]:
        """Returns the lines of the title that say what the copied parts contain."""
        copied = [*(ast.parse(text) for text in self.helpers), *(n for n in self._class.body if n is not self._forward)]
        tries = any(isinstance(n, ast.Try | ast.TryStar) for part in copied for n in ast.walk(part))
        return ["# The task's own code has `try`, so KernelBench's static check refuses this file."] if tries else []

    def known(self) -> set[str]:
        """Returns the names that the remaining parts define or import."""
        nodes = [node for line in self.imports for node in ast.parse(line).body]
        found = {a.asname or a.name.split(".")[0] for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
        return self.names() | found

    def input_text(self, path: str) -> str:
        """Returns the expression of forward that holds an input: args[0][1] or kwargs['mask']."""
        match = _INPUT_PATH.fullmatch(path)
        if match and match[1] is not None:
            place, rest = int(match[1]), len(self.forward_names)
            if place < rest:
                return self.forward_names[place] + match[3]
            if self._rest:
                return f"{self._rest}[{place - rest}]{match[3]}"
        elif match:
            name = match[2]
            if name in self._keyword_names:
                return name + match[3]
            if self._keywords:
                return f"{self._keywords}[{name!r}]{match[3]}"
        raise Refused(f"the input {path} has no name in forward")

    def class_text(self, forward_lines: list[str]) -> str:
        """Returns ModelNew: everything of Model except its forward."""
        owner = self._class
        head = ast.unparse(ast.ClassDef("ModelNew", owner.bases, owner.keywords, [], []))
        body = [_Plain().visit(n) for n in owner.body if not is_text(n) and n is not self._forward]
        methods = ["\n".join("    " + line for line in ast.unparse(n).splitlines()) for n in body]
        signature = ast.unparse(self._forward.args)
        forward = [f"    def forward({signature}):", *("        " + line for line in forward_lines)]
        return "\n\n".join([head, *methods, "\n".join(forward)])


class _Plain(ast.NodeTransformer):
    """Model becomes ModelNew, `pass` becomes `...`, and docstrings are removed."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name("ModelNew", node.ctx), node) if node.id == "Model" else node

    def visit_Pass(self, node: ast.Pass) -> ast.AST:
        return ast.copy_location(ast.Expr(ast.Constant(...)), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if len(node.body) > 1 and is_text(node.body[0]):
            del node.body[0]
        return self.generic_visit(node)


def _method(owner: ast.ClassDef, name: str) -> ast.FunctionDef:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise Refused(f"class Model has no method {name} of its own")


def _title(request: dict[str, Any], model: TaskSource, kernel: Kernel) -> list[str]:
    flags = " ".join([request["compiler"], *request["flags"]]).strip()
    return [
        f"# ModelNew for the task {request['name']}, exported by pragma.",
        f"# Kernel {request['candidate']}, {flags or request['language']}.",
        *mode_note(request),
        *model.notes(),
        *kernel.note,
    ]


_CPP_LIBRARY = (
    '''

def _pragma_library():
    if _PRAGMA_NEEDS:
        with open("/proc/cpuinfo") as cpuinfo:
            words = set(cpuinfo.read().split())
        missing = [name for name in _PRAGMA_NEEDS if name not in words]
        if missing:
            raise RuntimeError(f"{_PRAGMA_NAME} needs a processor with {', '.join(missing)}; this one lacks it")
    if _PRAGMA_COMPILER != "g++":
        os.environ.setdefault("CXX", _PRAGMA_COMPILER)
'''
    + build_and_load(
        name="_PRAGMA_NAME",
        cpp_sources="[_PRAGMA_SOURCE]",
        extra_cflags="_PRAGMA_FLAGS",
        extra_ldflags="_PRAGMA_LINK",
    )
    + "\n"
)
_KEPT_SCRATCH = "\n_PRAGMA_KEPT = {}\n\n" + kept_scratch("size", '"scratch"')


class CppKernel:
    """A C++ source that ModelNew builds on first use."""

    imports = ("import ctypes", "import os", "import torch", "from torch.utils.cpp_extension import load_inline")
    helpers = _CPP_LIBRARY + ready("cpu", 64) + LOADED
    note = (
        "# The C++ below is built on first use by torch.utils.cpp_extension, on the machine that",
        "# runs it; with -march=native it is built for that machine's own processor.",
    )

    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request
        if request["scratch_bytes"] > 0:
            self.helpers = _KEPT_SCRATCH + self.helpers

    def constants(self) -> list[str]:
        request = self._request
        return [
            f"_PRAGMA_NAME = {'pragma_' + request['candidate']!r}",
            f"_PRAGMA_NEEDS = {request['needs']!r}",
            f"_PRAGMA_FLAGS = {['-std=c++20', *request['flags']]!r}",
            f"_PRAGMA_COMPILER = {request['compiler']!r}",
            f"_PRAGMA_LINK = {['-fopenmp'] if '-fopenmp' in request['flags'] else []!r}",
            f"_PRAGMA_SOURCE = {literal(one_source(request['header'], request['kernel']))}",
        ]

    def call(self, arguments: list[str], outputs: list[str]) -> list[str]:
        return library_call("pragma_kernel", [*arguments, *outputs], self._request["scratch_bytes"])


Kernel = CppKernel | CudaKernel | TritonModule
_KERNELS: dict[str, Callable[[dict[str, Any]], Kernel]] = {"cpp": CppKernel, "cuda": CudaKernel, "triton": TritonModule}


def _forward(request: dict[str, Any], model: TaskSource, kernel: Kernel) -> list[str]:
    arguments = request["arguments"]
    lines = mode_check(request, model.self_name) + [
        f"a{i} = _pragma_ready({value_of(a, model)}, {tuple(a['shape'])!r}, torch.{a['dtype']}, {a['path']!r})"
        for i, a in enumerate(arguments)
    ]
    held = [f"a{i}" for i in range(len(arguments))]
    outputs = [f"o{i}" for i in range(len(request["outputs"]))]
    on_device = "" if isinstance(kernel, CppKernel) else ", device=" + (f"{held[0]}.device" if held else "'cuda'")
    for name, spec in zip(outputs, request["outputs"], strict=True):
        lines.append(f"{name} = torch.empty({tuple(spec['shape'])!r}, dtype=torch.{spec['dtype']}{on_device})")
    if request["packed_bytes"] > 0:
        lines += _prepare_lines(request, model)
        lines += kernel.call(held, [*outputs, f"{model.self_name}._pragma_packed"])
    else:
        lines += kernel.call(held, outputs)
    return [*lines, *last_lines(request, model, outputs)]


def _prepare_lines(request: dict[str, Any], model: TaskSource) -> list[str]:
    """pragma_prepare runs again whenever a parameter is a different tensor or was written to."""
    me = model.self_name
    state = [(i, a) for i, a in enumerate(request["arguments"]) if a["role"] != "input"]
    sources = [value_of(a, model) for _, a in state]
    key = "(" + "".join(f"{s}.data_ptr(), {s}._version, " for s in sources) + ")"
    pointers = "".join(f"ctypes.c_void_p(a{i}.data_ptr()), " for i, _ in state)
    return [
        f"key = {key}",
        f"if getattr({me}, '_pragma_key', None) != key:",
        f"    {me}._pragma_packed = torch.empty({request['packed_bytes']}, dtype=torch.uint8)",
        f"    _PRAGMA_LIBRARY.pragma_prepare({pointers}ctypes.c_void_p({me}._pragma_packed.data_ptr()))",
        f"    {me}._pragma_key = key",
    ]


def value_of(argument: dict[str, Any], model: TaskSource) -> str:
    """Returns the Python expression that holds an argument inside forward."""
    if argument["constant"]:
        return _constant_name(argument)
    held = _held_text(argument, model)
    return f"torch.view_as_real({held}.resolve_conj())" if argument["complex"] else held


def _held_text(argument: dict[str, Any], model: TaskSource) -> str:
    path = argument["path"]
    if argument["role"] == "input":
        return model.input_text(path)
    value = model.self_name
    if path.startswith("lifted_tensor_"):
        raise Refused(f"forward makes the constant {path} itself, and it is too large to be written into ModelNew")
    for part in path.split("."):
        plain = part.isidentifier() and not keyword.iskeyword(part)
        value = f"{value}.{part}" if plain else f"getattr({value}, {part!r})"
    return value


def _constant_name(argument: dict[str, Any]) -> str:
    return "_PRAGMA_" + re.sub(r"\W", "_", argument["path"]).upper()


def written_constants(arguments: list[dict[str, Any]], device: str = "") -> list[str]:
    """Returns the lines that make the constants which Model's forward makes itself. `device` is appended to each."""
    return [
        f"{_constant_name(a)} = torch.frombuffer(bytearray.fromhex({a['constant']!r}), dtype=torch.{a['dtype']})"
        f".reshape({tuple(a['shape'])!r}){device}"
        for a in arguments
        if a["constant"]
    ]


def last_lines(request: dict[str, Any], model: TaskSource, outputs: list[str]) -> list[str]:
    """Returns the lines that change what forward changes, and return what it returns. What is changed are the last
    outputs."""
    by_name = {a["name"]: a for a in request["arguments"]}
    changed = request.get("updates", [])
    values = [
        f"torch.view_as_complex({name})" if spec["complex"] else name
        for name, spec in zip(outputs, request["outputs"], strict=True)
    ]
    returned = values[: len(values) - len(changed)]
    lines = [
        f"{_held_text(by_name[name], model)}.detach().copy_({value})"
        for name, value in zip(changed, values[len(returned) :], strict=True)
    ]
    return [*lines, f"return {return_text(request, returned, model.known())}"]


if __name__ == "__main__":
    sys.exit(answer(write))
