"""Installed: the forward of one module that has a kernel.

`module.forward` becomes a bound method of an Installed. So the module's class, its state_dict and its hooks stay as they
were, and removing the attribute restores the module.
"""

from __future__ import annotations

import copy
import inspect
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.autograd import forward_ad as _forward_ad

from pragma_kernels.counts import Counts
from pragma_kernels.errors import PackageError
from pragma_kernels.inner import Inner, Shape, shape_of
from pragma_kernels.objects import Places
from pragma_kernels.package import Unit, open_package
from pragma_kernels.refusal import checked, refusal

_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
_compiling = torch.compiler.is_dynamo_compiling
_dispatch_modes = torch._C._len_torch_dispatch_stack
_function_modes = torch._C._len_torch_function_stack
_grad_enabled = torch.is_grad_enabled


class _Original(Exception):
    """The reason why the original forward serves a call."""


class Installed:
    """Serves the calls of one module: by the kernel where it was verified for such a call, else by the original forward.

    A kernel that packs weights makes the packed copy anew when their content differs. That is found by a 64-bit checksum
    over all bytes of the weights at every call, at the speed of memory: writes through `.data`, and all writes to
    inference tensors, leave no trace that would be cheaper to look for.

    Attributes that are no tensors (`layer.eps = 1e-3`) are not watched: a package is for the model as it was packed. A
    shallow copy (copy.copy) of the module itself shares this object, so it stays a second name for the first module.
    """

    def __init__(self, folder: str, unit: Unit, path: str, shape: Shape, home: torch.nn.Module) -> None:
        self._folder = folder
        self.unit = unit
        self._path = path  # at which the module was when the package was made: layers use other parts of a cache
        self._shape = shape
        self._home = weakref.ref(home)  # the module has this object, so a plain reference would be a cycle
        self._start()

    def _start(self) -> None:
        unit = self.unit
        self.counts = Counts()
        self.refused: dict[str, str] = {}  # of the whole model, for stats
        self.traced_from: dict[str, int] = {}  # for each kernel, the uncounted calls when a graph was first compiled
        self._never = unit.never
        self._call = unit.call
        self._kernels = unit.kernels
        self._positional = unit.positional
        self._shapes = [tuple(spec["shape"]) for spec in unit.inputs]
        self.other: Installed | None = None  # serves calls of another form
        places = unit.objects.get(self._path)
        self._places = Places(places) if places else None
        self._bound: Inner | None = None
        self._weights: list[tuple[dict[str, Any] | None, str, str]] = []
        self._release = [weakref.finalize(self, kernel.change_modules, -1) for kernel in set(unit.kernels)]
        for kernel in set(unit.kernels):
            kernel.change_modules(1)

    @property
    def run(self) -> types.MethodType:
        """The method that becomes `module.forward`. It shows the signature of the module's own."""
        return types.MethodType(_forward_of(type(self.home())), self)

    def home(self) -> torch.nn.Module:
        home = self._home()
        if home is None:
            raise PackageError("this forward belongs to a module that no longer exists")
        return home

    def release(self) -> None:
        """Gives back what is held for the module."""
        for finalizer in self._release:
            finalizer()
        if self.other is not None:
            self.other.release()

    def variants(self) -> Iterator[Installed]:
        """Returns this object and those that serve the module's calls of other forms."""
        yield self
        if self.other is not None:
            yield from self.other.variants()

    # ---- a call, in parts (the whole is _forward) -------------------------------------------------------------------

    def _taken(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...] | None, str]:
        """Returns the call's tensors, or None and the reason why this unit does not serve the call."""
        tensors = self.unit.take(args, kwargs)
        if tensors is None or self._places is None:
            return tensors, "arguments"
        held = self._places.read(args, kwargs)
        return (None if held is None else tensors + held), "object"

    def _tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        tensors, reason = self._taken(args, kwargs)
        if tensors is None:
            raise _Original(reason)
        return tensors

    def _bind(self) -> Inner:
        home = self.home()
        self._weights = [_place(home, weight["state"]) for weight in self.unit.weights]
        self._bound = Inner(home, self._shape, Installed)
        return self._bound

    def _fits(self, tensors: tuple[Any, ...]) -> bool:
        """Returns whether the tensors have the sizes of this unit. The operator would find that out too, but an exception
        takes longer where another unit is next."""
        return all(getattr(tensor, "shape", None) == shape for tensor, shape in zip(tensors, self._shapes, strict=True))

    def _reason(self, home: dict[str, Any]) -> str:
        """Returns the first reason of those that a call asks about at once."""
        if self._never:
            return self._never
        if home["training"]:
            return "training mode"
        return "gradient" if _forward_ad._current_level >= 0 else "tensor type"

    def _count(self, tensors: Any, failure: Exception) -> None:
        """Counts a call that this unit does not serve, unless another unit may serve it."""
        refused = self._refused(tensors, failure)
        if refused is None:
            self.counts.fail(failure)
        elif self.other is None:
            self.counts.fall_back(*refused)

    def _refused(self, tensors: Any, failure: Exception) -> tuple[str, str] | None:
        """Returns the reason and what was found; None if the kernel failed. The operator's messages say the reason. Torch's
        dispatcher says in its own words that there is no operator for tensors of some kind."""
        text = str(failure).partition("\n")[0]
        if isinstance(failure, _Original):
            return text, ""
        if text.startswith("pragma_kernels: "):
            _, reason, found = text.split(": ", 2)
            return reason, found
        if isinstance(failure, NotImplementedError) and (reason := refusal(self.unit, tensors)):
            return reason, ""
        return None

    # ---- a call that torch.compile traces ---------------------------------------------------------------------------

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Puts the operator into the graph if it may be used. Each condition becomes a guard of the graph, or is one that
        Torch has anyway (grad mode, autocast, the number of threads)."""
        home: Any = self._home()
        given, why = self._taken(args, kwargs)
        if given is not None:
            tensors = given + tuple(_attribute(home, weight["state"]) for weight in self.unit.weights)
            why = self._untraceable(home, tensors)
            if not why:
                result = self.unit.traced(*tensors)
                return result if self._places is None else self._places.store(args, kwargs, result)
        if self.other is not None:
            return self.other.trace(args, kwargs)
        self.count_traced(why)
        return type(home).forward(home, *args, **kwargs)

    def _untraceable(self, home: Any, tensors: tuple[Any, ...]) -> str:
        """Returns why the operator may not be in the graph, or ""."""
        if not self.usable():
            return "hooks"
        if home.training:
            return "training mode"
        if torch.is_autocast_enabled(self.unit.device):
            return "autocast"
        return "" if checked(self.unit, tensors) else "tensors"

    def count_traced(self, reason: str) -> None:
        """Counts a graph in which the original forward serves this module. torch.compile runs this once for each graph."""
        self.counts.fall_back(f"compiled: {reason}", "")

    count_traced._dynamo_marked_constant = True  # type: ignore[attr-defined]

    def usable(self) -> bool:
        """Returns whether the module and the process are as the package wants them. torch.compile runs this once for each
        graph and takes the answer for a constant; it does not look for new hooks afterwards either."""
        home = self.home()
        inner = Inner(home, self._shape, Installed)
        if self._never or inner.reason():
            return False
        for kernel in self.unit.kernels:
            self.traced_from.setdefault(kernel.name, kernel.calls() - kernel.calls_counted)
        return all(kernel.threads in (0, torch.get_num_threads()) for kernel in self.unit.kernels)

    usable._dynamo_marked_constant = True  # type: ignore[attr-defined]  # torch.compiler.assume_constant_result, without its imports

    # ---- copies -----------------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Installed:
        home = memo.get(id(self.home()))
        if not isinstance(home, torch.nn.Module):
            kind = type(self.home()).__name__
            raise PackageError(f"a {kind} with kernels cannot be copied: its __deepcopy__ does not record the copy in memo")
        made = Installed(self._folder, self.unit, self._path, self._shape, home)
        made.refused = copy.copy(self.refused)
        made.other = copy.deepcopy(self.other, memo)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """The module is in the state, since it refers back to this object."""
        state = {"home": self.home(), "refused": self.refused, "other": self.other}
        return (_restored, (self._folder, self.unit.name, self._path, self._shape), state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._home = weakref.ref(state["home"])
        self.refused = state["refused"]
        self.other = state["other"]


def _restored(folder: str, name: str, path: str, shape: Shape) -> Installed:
    package = open_package(folder)
    if name not in package.units:
        raise PackageError(f"the pickled model uses the unit {name}, which {folder} no longer has")
    made = Installed.__new__(Installed)
    made._folder, made.unit, made._path, made._shape = folder, package.units[name], path, shape
    made._start()
    return made


def _forward(self: Installed, /, *args: Any, **kwargs: Any) -> Any:
    """Answers a call of the module. It is one function, for speed; and what Torch's dispatcher or the operator can check
    (autocast, shapes, types, devices, threads), they check: the operator throws."""
    if _compiling():
        return self.trace(args, kwargs)
    tensors: Any = ()
    try:
        home = self._home().__dict__
        bound = self._bound or self._bind()
        if self._never or home["training"] or _dispatch_modes() or _function_modes() or _forward_ad._current_level >= 0:
            raise _Original(self._reason(home))
        if bound.modules and (reason := bound.reason()):
            raise _Original(reason)
        tensors = args if len(args) == self._positional and not kwargs else self._tensors(args, kwargs)
        if self.other is not None and not self._fits(tensors):
            raise _Original("shape")
        for held, where, name in self._weights:
            tensors += ((home if held is None else held)[where][name],)
        if not _PLAIN.issuperset(map(type, tensors)):
            raise _Original(refusal(self.unit, tensors) or "tensor type")
        if _grad_enabled():
            for tensor in tensors:
                if tensor.requires_grad:
                    raise _Original("gradient")
        result = self._call(*tensors)
    except Exception as error:
        failure = error.with_traceback(None)  # else this frame, and so every tensor in it, would live until the next gc
    else:
        self.counts.calls += 1
        for kernel in self._kernels:
            kernel.calls_counted += 1
            if kernel.copies.value != kernel.copies_seen:
                self.counts.add_copies(kernel)
        return result if self._places is None else self._places.store(args, kwargs, result)
    # The original must not run inside of `try`: what it raises is the model's own.
    self._count(tensors, failure)
    if self.other is not None:
        return _forward(self.other, *args, **kwargs)
    own = self.home()
    return type(own).forward(own, *args, **kwargs)


_forwards: weakref.WeakKeyDictionary[type, Callable[..., Any]] = weakref.WeakKeyDictionary()


def _forward_of(kind: type) -> Callable[..., Any]:
    """Returns `_forward` with the signature of the class's own forward, which libraries look at."""
    if kind not in _forwards:
        _forwards[kind] = _with_signature(kind)
    return _forwards[kind]


def _with_signature(kind: Any) -> Callable[..., Any]:
    # The name is that of the attribute by which pickle finds the method again.
    made = types.FunctionType(_forward.__code__, _forward.__globals__, "run")
    try:
        made.__signature__ = inspect.signature(kind.forward)  # type: ignore[attr-defined]
    except (TypeError, ValueError):  # a forward that is not written in Python
        pass
    return made


def _place(home: torch.nn.Module, path: str) -> tuple[dict[str, Any] | None, str, str]:
    """Returns where a tensor of the module is found: a module's __dict__ (None for that of `home`), the dict in it, and
    the name. What is found there at each call is the module's tensor of that time."""
    owner_path, _, name = path.rpartition(".")
    owner = home.get_submodule(owner_path)
    where = "_buffers" if name in owner._buffers else "_parameters"
    return (owner.__dict__ if owner_path else None, where, name)


def _attribute(home: Any, path: str) -> Any:
    for name in path.split("."):
        home = getattr(home, name)
    return home


def install(folder: str, units: list[Unit], path: str, home: torch.nn.Module, refused: dict[str, str]) -> None:
    """Makes the units serve the module's calls. A call that the first does not serve goes to the next."""
    first: Installed | None = None
    for unit in reversed(units):
        made = Installed(folder, unit, path, shape_of(home), home)
        made.refused, made.other = refused, first
        first = made
    assert first is not None
    home.__dict__["forward"] = first.run


def installed(home: torch.nn.Module) -> Installed | None:
    """Returns what serves the module's calls, or None if it is its own forward."""
    forward = home.__dict__.get("forward")
    held = getattr(forward, "__self__", None) if isinstance(forward, types.MethodType) else None
    return held if isinstance(held, Installed) else None
