"""The calls of a user: a loop that drops each result, which is what the headline of a run is measured on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Call = tuple[Callable[..., Any], list[Any]]
Pairs = list[tuple[torch.Tensor, torch.Tensor]]


def last_of_loop(call: Call, times: int) -> Any:
    """Makes so many calls and returns what the last one returned. Each other result is dropped at once, so that the
    next call finds its memory free, as in a program."""
    model, inputs = call
    for _ in range(times - 1):
        model(*inputs)
    return model(*inputs)


def renew(pairs: Pairs) -> None:
    """Copies each pair's second tensor to its first: forward may have changed the first."""
    for own, contents in pairs:
        own.copy_(contents)


def renewing(model: Callable[..., Any], pairs: Pairs) -> Callable[..., Any]:
    """Returns `model` as a function that renews the pairs first, so that no call depends on how many came before.
    Without pairs it is `model` itself."""
    if not pairs:
        return model

    def call(*inputs: Any) -> Any:
        renew(pairs)
        return model(*inputs)

    return call
