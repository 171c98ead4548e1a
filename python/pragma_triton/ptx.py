"""Finds forbidden contents in the PTX of a compiled kernel: clocks, launch counters, variables.

The machine code is made only from PTX, and inline assembly appears in it as written. src/build/ptx_audit.cc checks the
PTX of CUDA candidates in the same way. Change both together.
"""

from __future__ import annotations

import re

# A comment ends only where every reader would see its end. A string has no escapes.
_TOKEN = re.compile(
    r'//[^\r\n]*|/\*.*?\*/|"[^"\\\r\n]*"|[.%\w$][%\w$]*|[ \t\r\n]+|.', re.DOTALL | re.ASCII
)
_TIME = re.compile(r"%+(clock.*|globaltimer.*|gridid|pm[0-9].*)")
_INSTRUCTIONS = {"clock", "clock64", "globaltimer"}
_CLOCK_ADVICE = "device code may not look at a clock or count launches; a kernel computes from its arguments alone"
_ODD = "has text that no compiler writes: leave it out of inline assembly"
# Texts of device_assert and device_print, which are passed to a function.
_TEXTS = re.compile(r"(assert(Message|File|Func)|printfFormat)_[0-9_]+")
_LINKING = {".visible", ".extern", ".weak", ".common"}
# Instructions that propagate an address.
_PASSES_ON = {"mov", "add", "sub", "cvta", "cvt", "mad", "shl", "or", "and", "selp"}
_LOADS = {"ld", "ldu", "prefetch"}


def complaint(text: str) -> str:
    """Returns a complaint of one line, or an empty string."""
    tokens: list[str] = []
    for token in _TOKEN.findall(text):
        if token in ('"', "#") or (len(token) == 1 and not (" " <= token <= "~" or token.isspace())):
            return f"its device code {_ODD}"
        if token.startswith(("//", "/*")) or token.isspace():
            continue
        if token == "*" and tokens and tokens[-1] == "/":
            return f"its device code {_ODD}"
        tokens.append(token)
    return _time(tokens) or _state(_without_places(tokens))


def _time(tokens: list[str]) -> str:
    for token in tokens:
        if _TIME.fullmatch(token):
            return f"its device code reads {token[:40]}: {_CLOCK_ADVICE}"
        if token.removeprefix(".") in _INSTRUCTIONS:
            return f"its device code uses {token}: {_CLOCK_ADVICE}"
        if token == ".include":
            return "its device code includes a file: leave it out of inline assembly"
    return ""


def _without_places(tokens: list[str]) -> list[str]:
    """Removes .loc and .file, which end without a semicolon."""
    rest: list[str] = []
    place = False
    for token in tokens:
        goes_on = token in (",", "+", "function_name", "inlined_at") or token[0].isdigit()
        place = token in (".loc", ".file") or (
            place and (goes_on or token[0] == '"' or token.startswith("$L__info"))
        )
        if not place:
            rest.append(token)
    return rest


def _state(tokens: list[str]) -> str:
    """Finds variables that outlive a launch, unless they are only loaded from, as tables are."""
    names = {_declared(tokens, at + 1) for at in range(len(tokens)) if _declares(tokens, at)}
    names = {name for name in names if not _TEXTS.fullmatch(name)}
    written = _in_values(tokens, names)
    for body in _bodies(tokens) if names else []:
        written |= _written(_statements(body), names)
    if not written:
        return ""
    return (
        f"its device code has a variable of its own, {min(written)[:60]}: nothing may be kept from one call "
        "to the next; use a tensor that run allocates"
    )


def _declares(tokens: list[str], at: int) -> bool:
    """`.global` also occurs within instructions (ld.global)."""
    if tokens[at] not in (".global", ".const"):
        return False
    while at > 0 and tokens[at - 1] in _LINKING:
        at -= 1
    before = tokens[at - 1] if at > 0 else ";"
    header = at > 1 and tokens[at - 2] in (".version", ".target", ".address_size")
    return header or before in ";{}):" or before[0] == '"'


def _declared(tokens: list[str], at: int) -> str:
    while at < len(tokens) and (tokens[at].startswith(".") or tokens[at - 1] == ".align"):
        at += 1
    return tokens[at] if at < len(tokens) else ""


def _in_values(tokens: list[str], names: set[str]) -> set[str]:
    """Returns those names that occur in the initialiser of another variable."""
    found, value = set(), False
    for token in tokens:
        value = token == "=" or (value and token != ";")
        if value and token in names:
            found.add(token)
    return found


def _bodies(tokens: list[str]) -> list[list[str]]:
    """Returns the bodies of functions. If the braces do not match, everything counts as one body."""
    bodies, depth, begin = [], 0, 0
    for at, token in enumerate(tokens):
        if token == "{":
            begin = at + 1 if depth == 0 else begin
            depth += 1
        elif token == "}":
            depth -= 1
            if depth == 0 and tokens[begin - 2 : begin - 1] != ["="]:
                bodies.append(tokens[begin:at])
            if depth < 0:
                break
    return bodies if depth == 0 else [tokens]


def _statements(body: list[str]) -> list[list[str]]:
    found: list[list[str]] = []
    now: list[str] = []
    for token in body:
        ends = token in (";", "}") and not (token == "}" and "{" in now)
        if ends or (token == "{" and (not now or now[0].startswith("."))):
            found.append(now)
            now = []
        else:
            now.append(token)
    return [statement for statement in [*found, now] if statement]


def _written(statements: list[list[str]], names: set[str]) -> set[str]:
    """Returns those names whose address, or one computed from it, is used other than in a load. The order does not
    matter."""
    holds: dict[str, set[str]] = {name: {name} for name in names}
    written: set[str] = set()
    while True:
        before = len(written) + sum(map(len, holds.values()))
        for statement in statements:
            _follow(statement, holds, written)
        if before == len(written) + sum(map(len, holds.values())):
            return written


def _follow(statement: list[str], holds: dict[str, set[str]], written: set[str]) -> None:
    first = 0
    if statement[0] == "@":
        first = 3 if statement[1:2] == ["!"] else 2
    while statement[first + 1 : first + 2] == [":"]:
        first += 2
    opcode, operands = (statement[first : first + 1] or ["."])[0], statement[first + 1 :]
    if opcode.startswith(".") or opcode in _LOADS:
        return
    while operands and operands[0].startswith("."):
        operands = operands[1:]
    target = operands[0] if opcode in _PASSES_ON and operands and operands[0].startswith("%") else ""
    held = set().union(*(holds.get(o, set()) for o in (operands[1:] if target else operands)))
    if target and held:
        holds.setdefault(target, set()).update(held)
    else:
        written |= held
