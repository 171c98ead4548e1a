"""Givens: what get_inputs() and get_init_inputs() return, as positional and keyword arguments of a call."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any


class WrongForm(Exception):
    """A return value that no call can be made of. The text says what it is, in a part of one line."""


@dataclasses.dataclass
class Givens:
    """The arguments of one call."""

    positional: list[Any] = dataclasses.field(default_factory=list)
    keywords: dict[str, Any] = dataclasses.field(default_factory=dict)

    def values(self) -> list[Any]:
        return [*self.positional, *self.keywords.values()]


def givens_of(returned: Any, function: Any) -> Givens:
    """Makes the arguments for `function`, a method that has `self`. A list or tuple holds positional arguments, a dict
    holds keyword arguments, and [[...], {...}] holds both where the function takes it so. Keyword arguments become
    positional where the function allows it, so that there is one form of each call."""
    if isinstance(returned, dict):
        return _by_name(function, [], returned)
    if not isinstance(returned, (list, tuple)):
        raise WrongForm(f"must return a list, tuple or dict of arguments, not {type(returned).__name__}")
    if _is_pair(returned) and _binds(function, returned[0], returned[1]):
        return _by_name(function, list(returned[0]), returned[1])
    return Givens(list(returned))


def _is_pair(returned: Any) -> bool:
    return (
        len(returned) == 2
        and type(returned[0]) in (list, tuple)
        and type(returned[1]) is dict
        and all(isinstance(key, str) for key in returned[1])
    )


def _binds(function: Any, positional: Any, keywords: dict[str, Any]) -> bool:
    try:
        inspect.signature(function).bind(None, *positional, **keywords)
    except TypeError:
        return False
    return True


def _by_name(function: Any, positional: list[Any], keywords: dict[str, Any]) -> Givens:
    if not all(isinstance(key, str) for key in keywords):
        raise WrongForm("returns a dict whose keys are not all names of arguments")
    try:
        bound = inspect.signature(function).bind(None, *positional, **keywords)
    except TypeError as error:
        raise WrongForm(f"does not fit {function.__qualname__}: {error}") from error
    return Givens(list(bound.args[1:]), dict(bound.kwargs))
