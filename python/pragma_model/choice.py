"""Choice: which submodules of a model become tasks, and which of them are the same task.

A module is taken whole if it is small enough for one kernel. It is divided if it is larger, if it cannot be captured,
or if most of its time is spent in blocks that are alike: one kernel then serves all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import torch

from pragma_model.modelfile import Call
from pragma_model.objects import is_object
from pragma_model.survey import Visit, arguments_of
from pragma_model.unit import Form, NotAUnit, Unit

MOST_OPERATORS = 320  # of a unit; one kernel of more would take minutes to compile and to check
# The same on a GPU: about two operators become one kernel in Triton, and each of these takes a second to compile.
MOST_OPERATORS_ON_GPU = 96
_MOST_LOOPED = 100_000  # of a unit that is a loop
_LOOPED_SHARE = 0.5  # of its time, at least, a loop spends outside of its submodules
_LEAST_SHARE = 0.01  # of the model's time, for all modules that look alike
_BLOCK_OPERATORS = 16  # a repeated block of fewer is not worth a task of its own
_REPEATED = 3  # so many alike blocks
_OWN_SHARE = 0.5  # of its time, at least, a divided module spends itself if it is named among what is left
_REPEATED_SHARE = 0.6  # of the module's time, for the module to be divided into them


@dataclasses.dataclass
class Part:
    """Equal submodules, and the first of them as a captured unit."""

    unit: Unit
    paths: list[str]
    seconds: float  # of all of them in one call of the model
    places: dict[str, Any]  # by path, where tensors are in the objects that it is given (Unit.places)
    compiled: bool = False  # torch.compile calls them in this form, and eager in another, which is a part of its own


@dataclasses.dataclass
class Left:
    """Submodules of one class that stay Torch's for one reason."""

    paths: list[str]
    kind: str
    seconds: float
    why: str


class Choice:
    """Walks the model from its root down, once for each example call. Calls of other sizes lead to other parts."""

    def __init__(
        self,
        model: torch.nn.Module,
        calls: list[Call],
        visits: list[dict[str, Visit]],
        file: str,
        most: int = MOST_OPERATORS,
    ) -> None:
        """`most` is the number of operators of a unit that is not a loop."""
        self._model = model
        self._most = most
        self._examples = list(zip(calls, visits, strict=True))
        self._file = file
        self._whole = sum(visit[""].seconds for visit in visits)
        self._looks: dict[str, Any] = {}
        self._visits: dict[str, Visit] = {}  # in the example that is looked at
        self._calls: dict[str, Call] = {}
        self._family_seconds: dict[Any, float] = {}  # of all modules that look alike
        self.parts: list[Part] = []
        self.left: list[Left] = []

    def run(self) -> None:
        for call, visits in self._examples:
            self._look_at(call, visits)
            self._take("")
        for call, visits in self._examples:
            self._take_compiled(call, visits)
        self.parts.sort(key=lambda part: -part.seconds)
        self.left.sort(key=lambda left: -left.seconds)

    def _look_at(self, call: Call, visits: dict[str, Visit]) -> None:
        self._visits = visits
        self._calls = arguments_of(self._model, call, list(visits))
        self._family_seconds = {}
        for path, visit in visits.items():
            family = self._family(path, visits)
            self._family_seconds[family] = self._family_seconds.get(family, 0) + visit.seconds

    def _take(self, path: str) -> None:
        """Makes the module a part, or divides it."""
        visit = self._visits.get(path)
        if visit is None:  # a container that is not called itself, such as a ModuleList
            self._divide(path)
            return
        if self._family_seconds[self._family(path, self._visits)] < _LEAST_SHARE * self._whole:
            return
        if self._is_too_large(path) or self._repeats(path):
            if not self._divide(path):
                self._leave(path, visit.seconds, f"it calls {visit.operators} operators, too many for one kernel")
            return
        try:
            self._check_inside(path)
            self._add(path, visit)
        except NotAUnit as error:
            if not self._divide(path):
                self._leave(path, visit.seconds, str(error))
            elif visit.own >= _OWN_SHARE * visit.seconds:  # its submodules are the smaller part of it
                self._leave(path, visit.own, str(error))

    def _take_compiled(self, call: Call, visits: dict[str, Visit]) -> None:
        """Adds the forms in which torch.compile calls the parts' modules, where eager does not call them so."""
        paths = [path for part in self.parts for path in part.paths if path in visits]
        try:
            self._calls = arguments_of(self._model, call, paths, compiling=True)
        except Exception:  # a model may only run so within torch.compile
            return
        for path in paths:
            call_now = self._calls.get(path)
            if call_now is None or any(path in p.paths and _same_form(p.unit.given, call_now) for p in self.parts):
                continue
            with contextlib.suppress(NotAUnit):
                self._add(path, visits[path], compiled=True)

    def _check_inside(self, path: str) -> None:
        """Refuses a module whose inner modules have hooks, as those that record hidden states: a kernel does not run them."""
        for name, inner in self._model.get_submodule(path).named_modules():
            if name and (inner._forward_hooks or inner._forward_pre_hooks):
                raise NotAUnit(f"{name} inside it has a hook")

    def _leave(self, path: str, seconds: float, why: str) -> None:
        kind = type(self._model.get_submodule(path)).__name__
        known = next((left for left in self.left if (left.kind, left.why) == (kind, why)), None)
        if known is None:
            self.left.append(Left([path], kind, seconds, why))
            return
        known.seconds += seconds
        if path not in known.paths:  # not of an earlier call
            known.paths.append(path)

    def _divide(self, path: str) -> bool:
        """Takes the module's children. Returns whether it has any that are called."""
        children = self._children(path)
        for child in children:
            self._take(child)
        return any(self._called_below(child) for child in children)

    def _is_too_large(self, path: str) -> bool:
        """Returns whether a kernel of the module would be too large, in any example: a module is divided for all of them
        or for none. A loop over time calls many operators itself, not by its submodules; its steps become a loop in the
        kernel too."""
        return any(_is_large(visits[path], self._most) for visits in self._all_visits(path))

    def _all_visits(self, path: str) -> list[dict[str, Visit]]:
        """Returns the visits of the examples that call this module."""
        return [visits for _, visits in self._examples if path in visits]

    def _children(self, path: str) -> list[str]:
        names = [name for name, _ in self._model.get_submodule(path).named_children()]
        return [f"{path}.{name}" if path else name for name in names]

    def _called_below(self, path: str) -> bool:
        return path in self._visits or any(name.startswith(path + ".") for name in self._visits)

    def _repeats(self, path: str) -> bool:
        """Returns whether most of the module's time, in all examples, is spent in siblings that look alike and are worth
        a task."""
        examples = self._all_visits(path)
        repeated = sum(self._repeated_seconds(visits, path) for visits in examples)
        return repeated > 0 and repeated >= _REPEATED_SHARE * sum(visits[path].seconds for visits in examples)

    def _repeated_seconds(self, visits: dict[str, Visit], path: str) -> float:
        """Returns the time of the siblings below a module that look alike and take the most, in one example."""
        prefix = path + "." if path else ""
        families: dict[Any, list[float]] = {}
        for name, visit in visits.items():
            if name != path and name.startswith(prefix) and visit.operators >= _BLOCK_OPERATORS:
                parent = name.rpartition(".")[0]
                families.setdefault((parent, self._family(name, visits)), []).append(visit.seconds)
        return max((sum(times) for times in families.values() if len(times) >= _REPEATED), default=0.0)

    def _family(self, path: str, visits: dict[str, Visit]) -> Any:
        """Returns what modules have in common that look alike."""
        return self._look(path), visits[path].operators

    def _look(self, path: str) -> Any:
        """Returns the class and the parameters' shapes of a module."""
        if path not in self._looks:
            module = self._model.get_submodule(path)
            parameters = tuple((name, tuple(p.shape), p.dtype) for name, p in module.named_parameters())
            self._looks[path] = (type(module), parameters)
        return self._looks[path]

    def _add(self, path: str, visit: Visit, compiled: bool = False) -> None:
        module = self._model.get_submodule(path)
        call = self._calls[path]
        for part in self.parts:
            if part.compiled == compiled and self._joins(part, path, call):
                if path not in part.paths:
                    part.paths.append(path)
                part.seconds += visit.seconds
                return
        unit = Unit(module, call, path, self._file)
        self.parts.append(Part(unit, [path], visit.seconds, {path: unit.places()}, compiled))

    def _joins(self, part: Part, path: str, call: Call) -> bool:
        """Returns whether the module computes what the part's computes. Modules whose attributes differ (a layer's
        number, say), and those that use objects, are compared by their graphs."""
        first = part.unit.path
        if self._look(first) != self._look(path) or not _same_form(part.unit.given, call):
            return False
        module = self._model.get_submodule(path)
        if not part.unit.given.has_objects() and alike(self._model.get_submodule(first), module):
            part.places[path] = None
            return True
        unit = Unit(module, call, path, self._file)
        if unit.fingerprint != part.unit.fingerprint:
            return False
        part.places[path] = unit.places()
        return True


def _is_large(visit: Visit, most: int) -> bool:
    if visit.operators <= most:
        return False
    return visit.operators > _MOST_LOOPED or visit.own < _LOOPED_SHARE * visit.seconds


def _same_form(given: Form, call: Call) -> bool:
    try:
        other = Form.of((call.args, call.kwargs), "it takes", objects=True)
    except NotAUnit:
        return False
    return given.spec == other.spec and all(
        _said(ours) == _said(theirs) for ours, theirs in zip(given.leaves, other.leaves, strict=True)
    )


def _said(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return tuple(leaf.shape), leaf.dtype
    return type(leaf) if is_object(leaf) else (type(leaf), leaf)


_NOT_COMPARED = {"_parameters", "_buffers", "_modules", "training"}


def alike(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    """Returns whether two modules have the same classes and attributes throughout, apart from parameters."""
    ours, theirs = list(one.named_modules()), list(other.named_modules())
    if [(name, type(module)) for name, module in ours] != [(name, type(module)) for name, module in theirs]:
        return False
    return all(_same_attributes(a, b) for (_, a), (_, b) in zip(ours, theirs, strict=True))


def _same_attributes(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    # Buffers decide what is computed as weights do, but a kernel gets them as arguments too.
    ours, theirs = (
        {k: v for k, v in vars(m).items() if k not in _NOT_COMPARED and "hooks" not in k} for m in (one, other)
    )
    return ours.keys() == theirs.keys() and all(_same_value(ours[name], theirs[name]) for name in ours)


def _same_value(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (bool, int, float, str)):
        return bool(one == other)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(_same_value(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (set, frozenset)):
        return bool(one == other)
    return False
