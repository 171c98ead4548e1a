"""Capture: a model's calls as CUDA graphs. Where kernels are short, what a call takes is the time in which Python launches
them; a graph launches all of them at once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

_WARM = 3  # calls before a capture: kernels are compiled and libraries choose their algorithms
_MOST = 16  # forms of calls that are captured for one model; each holds memory
_DEEPEST = 5  # objects inside objects that are searched for tensors
_PLAIN = (type(None), bool, int, float, str, torch.dtype, torch.device)


class Captured:
    """A model whose calls are replayed. The first call of each form (structure, shapes, types, constants) captures a graph;
    later ones copy their tensors into it, launch it, and return copies of its results.

    Calls run the model itself, and are counted in `plain` by their reason, if gradients are wanted, if the model is in
    training mode, if a tensor is not on a GPU, if an argument is an object of which it is not known what it holds, or if a
    capture fails. A graph is captured anew when a parameter or buffer has moved to other memory. What forward does besides
    computing on the GPU (printing, counting) happens at the capture only.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self.model = model
        self.replays = 0
        self.plain: dict[str, int] = {}
        self._graphs: dict[Any, _Graph] = {}
        self._refused: dict[Any, str] = {}
        self._state: list[int] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = list(tensors_of((args, kwargs)))
        reason = self._reason(tensors)
        key = None if reason else _form((args, kwargs), tensors)
        if not reason:
            reason = "arguments" if key is None else self._refused.get(key, "")
        if reason:
            return self._run_plain(reason, args, kwargs)
        self._forget_if_moved()
        if key not in self._graphs:
            try:
                self._capture(key, args, kwargs)
            except Exception as error:  # the model waits for the GPU, for example
                torch.cuda.synchronize()
                self._refused[key] = f"not captured: {str(error).partition(chr(10))[0]}"
                return self._run_plain(self._refused[key], args, kwargs)
        self.replays += 1
        return self._graphs[key].replay(tensors)

    def _run_plain(self, reason: str, args: Any, kwargs: Any) -> Any:
        self.plain[reason] = self.plain.get(reason, 0) + 1
        return self.model(*args, **kwargs)

    def _reason(self, tensors: list[torch.Tensor]) -> str:
        if not torch.cuda.is_available() or not tensors or any(t.device.type != "cuda" for t in tensors):
            return "device"
        if self.model.training:
            return "training mode"
        if torch.is_grad_enabled():
            if any(t.requires_grad for t in tensors) or any(p.requires_grad for p in self.model.parameters()):
                return "gradient"
        return ""

    def _forget_if_moved(self) -> None:
        """The graphs read weights where they were."""
        places = [t.data_ptr() for t in self.model.parameters()] + [t.data_ptr() for t in self.model.buffers()]
        if places != self._state:
            self._graphs.clear()
            self._state = places

    def _capture(self, key: Any, args: Any, kwargs: Any) -> None:
        while len(self._graphs) >= _MOST:
            self._graphs.pop(next(iter(self._graphs)))
        self._graphs[key] = _Graph(self.model, args, kwargs)


class _Graph:
    """One captured call, with the tensors that it reads and writes."""

    def __init__(self, model: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._given = _copied((args, kwargs))
        self._tensors = list(tensors_of(self._given))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        # Tensors of inference mode could not be written to outside of it.
        with torch.inference_mode(False), torch.no_grad():
            with torch.cuda.stream(stream):
                for _ in range(_WARM):
                    self._call(model)
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self._result = self._call(model)

    def _call(self, model: Callable[..., Any]) -> Any:
        """A call may change objects among its arguments; the tensors in them stay those of the graph."""
        args, kwargs = _shallow(self._given)
        return model(*args, **kwargs)

    def replay(self, tensors: list[torch.Tensor]) -> Any:
        with torch.no_grad():
            for own, given in zip(self._tensors, tensors, strict=True):
                own.copy_(given)
            self._graph.replay()
            return copy.deepcopy(self._result)


def capture(model: torch.nn.Module) -> Captured:
    """Returns a callable that computes what the model computes, by CUDA graphs where it can. Install kernels before."""
    return Captured(model)


def tensors_of(value: Any, deep: int = _DEEPEST) -> Iterator[torch.Tensor]:
    """Yields the tensors of arguments, also those that objects hold, always in the same order."""
    for leaf in tree_flatten(value)[0]:
        if isinstance(leaf, torch.Tensor):
            yield leaf
        elif deep > 0 and _is_object(leaf):
            for name in sorted(vars(leaf)):
                yield from tensors_of(vars(leaf)[name], deep - 1)


def _is_object(leaf: Any) -> bool:
    return hasattr(leaf, "__dict__") and not isinstance(leaf, (type, torch.nn.Module, torch.Tensor))


def _form(value: Any, tensors: list[torch.Tensor]) -> Any:
    """Returns what calls have in common that one graph serves, or None if an argument cannot be compared."""
    said = _said(value, _DEEPEST)
    return None if said is None else (said, tuple((t.shape, t.dtype, t.device, t.stride()) for t in tensors))


def _said(value: Any, deep: int) -> Any:
    leaves, spec = tree_flatten(value)
    parts = [_said_of_leaf(leaf, deep) for leaf in leaves]
    return None if any(part is None for part in parts) else (str(spec), tuple(parts))


def _said_of_leaf(leaf: Any, deep: int) -> Any:
    if isinstance(leaf, torch.Tensor):
        return "tensor"
    if isinstance(leaf, _PLAIN):
        return type(leaf).__name__, repr(leaf)
    if not _is_object(leaf) or deep <= 0:
        return None
    inner = [(name, _said(vars(leaf)[name], deep - 1)) for name in sorted(vars(leaf))]
    return None if any(part is None for _, part in inner) else (type(leaf).__qualname__, tuple(inner))


def _copied(value: Any) -> Any:
    """Returns a deep copy whose tensors have the strides of the given ones and are no inference tensors."""
    with torch.inference_mode(False), torch.no_grad():
        return copy.deepcopy(value)


def _shallow(value: Any) -> Any:
    """Returns a copy that shares all tensors."""
    memo = {id(tensor): tensor for tensor in tensors_of(value)}
    return copy.deepcopy(value, memo)
