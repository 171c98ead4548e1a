"""Writes units/NAME.py: how a unit's arguments are taken apart, which kernels run, and what is returned."""

from __future__ import annotations

import ast
import itertools
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
        self._inputs = given_tensors(unit)
        self._given = pack_tree.parsed(unit["in_spec"])

    def text(self) -> str:
        unit = self._unit
        specs = [] if pack_tree.is_plain(self._given) else [f"_IN = pytree.treespec_loads({unit['in_spec']!r})"]
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

    def _positional(self) -> int:
        args, kwargs = self._given["children_spec"]
        in_order = [a["leaf"] for a in self._inputs if "leaf" in a] == list(range(len(args["children_spec"])))
        plain = pack_tree.only_leaves(args) and not kwargs["children_spec"] and in_order and not passed_on(self._unit)
        return len(args["children_spec"]) if plain else -1

    def _take_lines(self) -> list[str]:
        leaves = self._unit["leaves"]
        if pack_tree.is_plain(self._given):
            lines = self._plain_lines()
        else:
            lines = ["leaves, spec = pytree.tree_flatten((args, kwargs))", "if spec != _IN:", "    return None"]
            lines += [f"{_tuple([f'v{i}' for i in range(len(leaves))])} = leaves"] if leaves else []
        taken = [a["leaf"] for a in self._inputs if "leaf" in a]
        read = [a["leaf"] for a in self._unit["arguments"] if "leaf" in a]
        for i, leaf in enumerate(leaves):
            if "value" in leaf:
                lines += [f"if {pack_tree.differs_text(f'v{i}', leaf['value'])}:", "    return None"]
            elif "argument" in leaf and i not in read:
                lines += [f"if not {_is_such(f'v{i}', leaf)}:", "    return None"]
        return [*lines, f"return {_tuple([f'v{number}' for number in taken])}"]

    def _plain_lines(self) -> list[str]:
        args, kwargs = self._given["children_spec"]
        numbers = itertools.count()
        return pack_tree.unpacked(args, "args", numbers) + pack_tree.unpacked(kwargs, "kwargs", numbers)

    def _make_lines(self) -> list[str]:
        used = list(dict.fromkeys(step["kernel"] for step in self._unit["steps"] if "kernel" in step))
        names = {name: f"_kernel_{i}" for i, name in enumerate(used)}
        lines = [f"{short} = kernels[{name!r}]" for name, short in names.items()]
        lines += [f"{a['name']} = constants[{a['constant']!r}]" for a in self._unit["arguments"] if "constant" in a]
        taken = [a["name"] for a in self._unit["arguments"] if "constant" not in a]
        # The run time passes the call's tensors first.
        given = [a["name"] for a in self._inputs]
        taken = [*given, *(name for name in taken if name not in given)]
        body = [line for step in self._unit["steps"] for line in self._step_lines(step, names)]
        if self._is_one_kernel(taken):
            return [*lines, "return _kernel_0"]
        stored = self._stored()
        body.append(f"return {self._result()}" + (f", {_tuple(stored)}" if stored is not None else ""))
        return [*lines, "", f"def call({', '.join(taken)}):", *("    " + line for line in body), "", "return call"]

    def _is_one_kernel(self, taken: list[str]) -> bool:
        """Returns whether the kernel itself does all that the function would do."""
        steps = self._unit["steps"]
        if self._stored() is not None or len(steps) != 1 or "kernel" not in steps[0] or self._result() != steps[0]["results"][0]:
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

    def _stored(self) -> list[str] | None:
        """Returns the tensors that are stored in objects; None if the unit is given no object."""
        unit = self._unit
        return [self._returned(place) for place in unit["stored"]] if "stored" in unit else None

    def _result(self) -> str:
        leaves = [
            pack_tree.value_text(leaf["value"]) if "value" in leaf else self._returned(leaf)
            for leaf in self._unit["out_leaves"]
        ]
        return pack_tree.built(self._unit["out_spec"], leaves)

    def _returned(self, place: dict[str, Any]) -> str:
        """Returns the name of a tensor that is computed, or of an argument that is returned as it is."""
        if "result" in place:
            return str(self._unit["results"][place["result"]])
        return next(str(a["name"]) for a in self._inputs if _is_at(a, place))

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


def given_tensors(unit: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the arguments that come from a call, in the order in which the run time passes them: those that are among
    the call's arguments, then those that objects hold."""
    given = [a for a in unit["arguments"] if "leaf" in a or "slot" in a] + passed_on(unit)
    return sorted(given, key=lambda a: (0, int(a["leaf"])) if "leaf" in a else (1, int(a["slot"])))


def passed_on(unit: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the arguments that no kernel takes and that are returned or stored as they are."""
    found: list[dict[str, Any]] = []
    for place in [*unit["out_leaves"], *unit.get("stored", [])]:
        known = any(_is_at(argument, place) for argument in [*unit["arguments"], *found])
        if ("leaf" in place or "slot" in place) and not known:
            found.append(place | {"name": f"_given_{len(found)}"})
    return found


def _is_at(argument: dict[str, Any], place: dict[str, Any]) -> bool:
    return any(key in place and argument.get(key) == place[key] for key in ("leaf", "slot"))


def _is_such(name: str, leaf: dict[str, Any]) -> str:
    """Returns a comparison with the form of a tensor that no kernel takes. What forward returns may depend on it."""
    kind = f"isinstance({name}, torch.Tensor)"
    return f"({kind} and {name}.dtype == torch.{leaf['dtype']} and {name}.shape == {_tuple([str(n) for n in leaf['shape']])})"


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _indented(lines: list[str]) -> str:
    return "".join("    " + line + "\n" if line else "\n" for line in lines)
