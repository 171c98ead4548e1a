"""NoTorch: a mode in which torch may only allocate, make views and fill with zeros.

scan.py cannot tell tensors from numbers, so `a + b` on the host may be either. One untimed call of run is made in this
mode. A launched kernel does not pass through torch's dispatcher.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_ALLOWED = {
    "empty", "empty_strided", "empty_like", "new_empty", "zeros", "zeros_like", "zero_", "view",
    "_unsafe_view", "_reshape_alias", "as_strided", "permute", "transpose", "t", "unsqueeze", "squeeze",
    "expand", "slice", "select", "alias", "detach",
}  # fmt: skip


class ComputesWithTorch(Exception):
    """run called an operator of torch that computes."""


class NoTorch(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is traced here. Excluding this mode would import all of torch.compile, which takes seconds in every
        process."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if name not in _ALLOWED:
            raise ComputesWithTorch(f"it computes with torch ({name}); compute in kernels")
        return func(*args, **(kwargs or {}))


def call(run: Any, tensors: list[torch.Tensor]) -> None:
    """Calls run(*tensors) and forbids torch to compute. Raises ComputesWithTorch."""
    with NoTorch():
        run(*tensors)
