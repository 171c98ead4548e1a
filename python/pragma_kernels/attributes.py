"""What a module computes with besides its tensors: the plain attributes of it and of all modules in it."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

_PLAIN = (bool, int, float, str, type(None))


def fingerprint(module: torch.nn.Module) -> str:
    """Returns a hash of the classes and plain attributes (numbers, texts, and sequences of them) of a tree of modules.

    A layer norm with another `eps` has another one. Objects, such as a configuration, are not looked into.
    """
    said = []
    for name, part in module.named_modules():
        # The file that defines a class may be imported under any name.
        said.append(f"{name} {type(part).__qualname__}")
        said += [f"  {key}={value!r}" for key, value in sorted(vars(part).items()) if _counts(key, value)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:24]


def _counts(key: str, value: Any) -> bool:
    return key not in ("training", "forward") and "hook" not in key and _is_plain(value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)
