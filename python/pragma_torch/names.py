"""Names of a kernel's arguments: C++ identifiers made from Python paths (docs/design.md 4)."""

from __future__ import annotations

import re

_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export extern
    false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires return short signed
    sizeof static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq""".split()
)
# Names to which kernel.h itself gives a meaning, and macros of the standard headers.
_TAKEN = frozenset(
    "scratch packed dims task std main errno assert NULL EOF linux unix signbit".split()
)


def identifier(path: str) -> str:
    """Returns a C++ identifier for `path`. Other characters become underscores, and a digit or keyword gets the prefix
    `t_`."""
    name = re.sub(r"[^0-9A-Za-z_]", "_", path) or "t_"
    if (
        name[0].isdigit()
        or name[0] == "_"
        or name in _KEYWORDS
        or name in _TAKEN
        or name.startswith("pragma_")
    ):
        name = "t_" + name.lstrip("_") if name[0] == "_" else "t_" + name
    return name


class Namer:
    """Assigns identifiers, each only once. A collision gets the suffix _2, _3, ..."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def name(self, path: str) -> str:
        base = identifier(path)
        name, count = base, 1
        while name in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used.add(name)
        return name
