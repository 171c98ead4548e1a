"""Writes units/NAME.py: how a unit's arguments are taken apart, which kernels run, and what is returned."""

from __future__ import annotations

import ast
import keyword
from typing import Any

from pragma_model import pack_tree
from pragma_model.pack_errors import PackError

_HEAD = '''\
"""The unit {name}, written by `pragma model`. It replaces {of} at {places}."""

import torch
from torch.utils import _pytree as pytree

# So many tensors, all passed by position, are the whole of the arguments; -1 if the unit is called in another way.
POSITIONAL = {positional}
{specs}

def take(args, kwargs):
    """Returns the call's tensors in the order that the kernels want, or None if this is another form of call."""
{take}

def make(kernels, constants):
    """Returns the function that replaces forward. It takes the call's tensors, then those of the module."""
{make}
'''


class UnitText:
    """The text of one unit."""

    def __init__(self, unit: dict[str, Any], kernels: dict[str, dict[str, Any]]) -> None:
        self._unit = unit
        self._kernels = kernels
        self._names = {a["name"] for a in unit["arguments"]}
        self._check_names()
        self._complex = self._complex_names()
        self._inputs = [a for a in unit["arguments"] if "leaf" in a]
        self._given = pack_tree.parsed(unit["in_spec"])

    def text(self) -> str:
        unit = self._unit
        specs = [] if self._is_flat() else [f"_IN = pytree.treespec_loads({unit['in_spec']!r})"]
        if not pack_tree.is_plain(pack_tree.parsed(unit["out_spec"])):
            specs.append(f"_OUT = pytree.treespec_loads({unit['out_spec']!r})")
        return _HEAD.format(
            name=unit["name"],
            of=unit["class"],
            places=", ".join(path or "the model itself" for path in unit["paths"]),
            positional=self._positional(),
            specs="\n".join(specs),
            take=_indented(self._take_lines()),
            make=_indented(self._make_lines()),
        )

    def _error(self, what: str) -> PackError:
        return PackError(f"unit {self._unit['name']}: {what}")

    def _check_names(self) -> None:
        names = list(self._names)
        for step in self._unit["steps"]:
            names += step.get("results", [])
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name) or name in ("torch", "pytree", "kernels", "constants", "call"):
                raise self._error(f"{name!r} cannot be the name of a value")

    def _is_flat(self) -> bool:
        """Returns whether neither an argument nor a keyword argument contains others."""
        return all(pack_tree.only_leaves(child) for child in self._given["children_spec"])

    def _positional(self) -> int:
        args, kwargs = self._given["children_spec"]
        in_order = [a["leaf"] for a in self._inputs] == list(range(len(args["children_spec"])))
        plain = self._is_flat() and not kwargs["children_spec"] and in_order
        return len(args["children_spec"]) if plain else -1

    def _take_lines(self) -> list[str]:
        leaves = self._unit["leaves"]
        if self._is_flat():
            lines = self._flat_lines()
        else:
            lines = ["leaves, spec = pytree.tree_flatten((args, kwargs))", "if spec != _IN:", "    return None"]
            lines += [f"{_tuple([f'v{i}' for i in range(len(leaves))])} = leaves"] if leaves else []
        used = {a["leaf"] for a in self._inputs}
        for i, leaf in enumerate(leaves):
            if "value" in leaf:
                lines += [f"if {pack_tree.differs_text(f'v{i}', leaf['value'])}:", "    return None"]
            elif i not in used:
                lines += [f"if not isinstance(v{i}, torch.Tensor):", "    return None"]
        return [*lines, f"return {_tuple([f'v{leaf}' for leaf in (a['leaf'] for a in self._inputs)])}"]

    def _flat_lines(self) -> list[str]:
        args, kwargs = self._given["children_spec"]
        count, words = len(args["children_spec"]), pack_tree.keys(kwargs)
        lines = [f"if len(args) != {count} or len(kwargs) != {len(words)}:", "    return None"]
        if words:
            lines += [f"if not kwargs.keys() >= {{{', '.join(repr(word) for word in words)}}}:", "    return None"]
        if count:
            lines.append(f"{_tuple([f'v{i}' for i in range(count)])} = args")
        return lines + [f"v{count + i} = kwargs[{word!r}]" for i, word in enumerate(words)]

    def _make_lines(self) -> list[str]:
        used = list(dict.fromkeys(step["kernel"] for step in self._unit["steps"] if "kernel" in step))
        names = {name: f"_kernel_{i}" for i, name in enumerate(used)}
        lines = [f"{short} = kernels[{name!r}]" for name, short in names.items()]
        lines += [f"{a['name']} = constants[{a['constant']!r}]" for a in self._unit["arguments"] if "constant" in a]
        taken = [a["name"] for a in self._unit["arguments"] if "constant" not in a]
        # The run time passes the call's tensors first.
        taken.sort(key=lambda name: name not in [a["name"] for a in self._inputs])
        body = [line for step in self._unit["steps"] for line in self._step_lines(step, names)]
        if self._is_one_kernel(taken):
            return [*lines, "return _kernel_0"]
        body.append(f"return {self._result()}")
        return [*lines, "", f"def call({', '.join(taken)}):", *("    " + line for line in body), "", "return call"]

    def _is_one_kernel(self, taken: list[str]) -> bool:
        """Returns whether the kernel itself does all that the function would do."""
        steps = self._unit["steps"]
        if len(steps) != 1 or "kernel" not in steps[0] or self._result() != steps[0]["results"][0]:
            return False
        kernel = self._kernels[steps[0]["kernel"]]
        parts = kernel["arguments"] + kernel["outputs"]
        return steps[0]["arguments"] == taken and len(kernel["outputs"]) == 1 and not any(p.get("complex") for p in parts)

    def _step_lines(self, step: dict[str, Any], names: dict[str, str]) -> list[str]:
        if "line" in step:
            return [self._checked(step["line"])]
        kernel = self._kernels.get(step["kernel"])
        if kernel is None:
            raise self._error(f"the request lacks the kernel {step['kernel']}")
        if len(step["arguments"]) != len(kernel["arguments"]) or len(step["results"]) != len(kernel["outputs"]):
            raise self._error(f"the step of kernel {kernel['name']} has another number of arguments or results")
        passed = [
            f"torch.view_as_real({name}.resolve_conj())" if spec.get("complex") else name
            for name, spec in zip(step["arguments"], kernel["arguments"], strict=True)
        ]
        lines = [f"{', '.join(step['results'])} = {names[kernel['name']]}({', '.join(passed)})"]
        return lines + [
            f"{name} = torch.view_as_complex({name})"
            for name, spec in zip(step["results"], kernel["outputs"], strict=True)
            if spec.get("complex")
        ]

    def _checked(self, line: str) -> str:
        try:
            body = ast.parse(line).body
        except SyntaxError as error:
            raise self._error(f"the line {line!r} is not Python") from error
        if len(body) != 1 or not isinstance(body[0], ast.Assign):
            raise self._error(f"the line {line!r} is not one assignment")
        return ast.unparse(body[0])

    def _result(self) -> str:
        unit = self._unit
        leaves = [
            unit["results"][leaf["result"]] if "result" in leaf else pack_tree.value_text(leaf["value"])
            for leaf in unit["out_leaves"]
        ]
        return pack_tree.built(unit["out_spec"], leaves)

    def tensor(self, argument: dict[str, Any]) -> dict[str, Any]:
        """Returns name, type and sizes of the module's own tensor. A kernel gets a complex one as pairs of real numbers."""
        real = {key: argument[key] for key in ("name", "dtype", "shape")}
        if argument["name"] not in self._complex or argument["dtype"].startswith("complex"):
            return real
        wide = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}
        return real | {"dtype": wide[argument["dtype"]], "shape": argument["shape"][:-1]}

    def _complex_names(self) -> set[str]:
        return {
            name
            for step in self._unit["steps"]
            for name, spec in zip(step.get("arguments", []), self._kernels.get(step.get("kernel", ""), {}).get("arguments", []), strict=False)
            if spec.get("complex")
        }


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _indented(lines: list[str]) -> str:
    return "".join("    " + line + "\n" if line else "\n" for line in lines)
