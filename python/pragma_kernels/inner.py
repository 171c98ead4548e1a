"""Inner: the modules inside a unit, which do not run when a kernel does.

So a hook on one of them, or a forward that was replaced, would have no effect. Inner notices that, and then the original
forward runs, as without this package.
"""

from __future__ import annotations

import types
from typing import Any

import torch
from torch.nn.modules import module as torch_module

# These dicts are made once by Torch, and hooks for all modules are put into them.
_FOR_ALL = (torch_module._global_forward_hooks, torch_module._global_forward_pre_hooks)

Shape = tuple[tuple[str, type], ...]


def shape_of(home: torch.nn.Module) -> Shape:
    """Returns the path and class of each module inside. A copy of `home` must have the same."""
    return tuple((path, type(inner)) for path, inner in home.named_modules(remove_duplicate=False) if path)


class Inner:
    """Checks a unit's inner modules. It holds their attributes' dicts, since each attribute of a module is slow to get."""

    def __init__(self, home: torch.nn.Module, shape: Shape, ours: type) -> None:
        self._ours = ours
        self.modules = [module for path, module in home.named_modules(remove_duplicate=False) if path]
        self._classes = [kind for _, kind in shape]
        self._same = shape_of(home) == shape
        # The unit's own __dict__ refers to this object, so only the dict of its children is held.
        self._children = [(home._modules, list(home._modules.values()))]
        self._children += [(inner._modules, list(inner._modules.values())) for inner in self.modules if inner._modules]
        self._leaves = [inner._modules for inner in self.modules if not inner._modules]
        self._held = [inner.__dict__ for inner in self.modules]

    def reason(self) -> str:
        """Returns why the original has to run, or ""."""
        if not self._same or _FOR_ALL[0] or _FOR_ALL[1] or list(map(type, self.modules)) != self._classes:
            return "hooks"
        if any(self._leaves):
            return "hooks"
        for now, children in self._children:
            if list(now.values()) != children:  # lists compare by identity first, so equal ones cost no call of __eq__
                return "hooks"
        for held in self._held:
            if held["training"]:
                return "training mode"
            if held["_forward_hooks"] or held["_forward_pre_hooks"] or "forward" in held:
                if not self._only_ours(held):
                    return "hooks"
        return ""

    def _only_ours(self, held: dict[str, Any]) -> bool:
        """Returns whether the only change is that this package serves the inner module as well."""
        forward = held.get("forward")
        ours = isinstance(forward, types.MethodType) and isinstance(forward.__self__, self._ours)
        return ours and not held["_forward_hooks"] and not held["_forward_pre_hooks"]
