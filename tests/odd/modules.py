"""Odd modules: task files made of a few plain operators and some oddities, combined at random from a seed.

A `Draft` is the file under construction. An oddity is a function that changes it. Oddities that cannot go together
share a group, and one of a group is taken.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

Oddity = Callable[["Draft", random.Random], None]
ODDITIES: dict[str, tuple[str, Oddity]] = {}  # by name: the group, and the function


@dataclass
class Draft:
    """A task file under construction. `y` is the value that forward works on."""

    rows: int
    columns: int
    head: list[str] = field(default_factory=list)  # top-level lines
    parameters: list[str] = field(default_factory=list)  # of the constructor
    init: list[str] = field(default_factory=list)  # lines of the constructor
    init_inputs: str = "[]"
    inputs: list[tuple[str, str]] = field(default_factory=list)  # name, expression
    keyword_only: set[str] = field(default_factory=set)
    rest: str = ""  # "*parts" or "**named": a parameter that takes what has no name
    before: list[str] = field(default_factory=list)  # lines of forward ahead of the operators
    lines: list[str] = field(default_factory=list)  # lines of forward
    extra: list[tuple[str, str]] = field(default_factory=list)  # further outputs: name, expression
    returned: str = ""  # how outputs are returned: a text with {y} and {extra}, or one of FORMS
    inputs_form: str = "list"
    base: str = "nn.Module"
    dtype: str = "torch.float32"

    def text(self) -> str:
        forward = [*self.before, *self.lines, f"return {self._return()}"]
        positional = [n for n, _ in self.inputs if n not in self.keyword_only and n.isidentifier()]
        keywords = [n for n, _ in self.inputs if n in self.keyword_only]
        rest = [self.rest] if self.rest.startswith("*") and not self.rest.startswith("**") else []
        star = ["*"] if keywords and not rest else []
        named = [self.rest] if self.rest.startswith("**") else []
        signature = ", ".join(["self", *positional, *rest, *star, *keywords, *named])
        init = ["super().__init__()", *self.init]
        return "\n".join(
            [
                "import collections\nimport dataclasses\nimport math\nimport torch\nfrom torch import nn",
                "import torch.nn.functional as F\n",
                *self.head,
                "",
                f"class Model({self.base}):",
                f"    def __init__({', '.join(['self', *self.parameters])}):",
                *("        " + line for line in init),
                f"    def forward({signature}):",
                *("        " + line for line in forward),
                "",
                "def get_inputs():",
                f"    return {self._inputs()}",
                "",
                "def get_init_inputs():",
                f"    return {self.init_inputs}",
                "",
            ]
        )

    def _inputs(self) -> str:
        if self.inputs_form == "dict" or self.keyword_only:
            return "{" + ", ".join(f"{n!r}: {e}" for n, e in self.inputs) + "}"
        values = ", ".join(e for _, e in self.inputs)
        return f"({values},)" if self.inputs_form == "tuple" else f"[{values}]"

    def _return(self) -> str:
        values = ["y", *(e for _, e in self.extra)]
        named = [("y", "y"), *self.extra]
        if self.returned == "list":
            return f"[{', '.join(values)}]"
        if self.returned == "nested":
            return f"(({', '.join(values)},), [y])"
        if self.returned == "dict":
            return "{" + ", ".join(f"{n!r}: {e}" for n, e in named) + "}"
        if self.returned == "named":
            self.head.append(f"Result = collections.namedtuple('Result', {' '.join(n for n, _ in named)!r})")
            return f"Result({', '.join(values)})"
        if self.returned == "dataclass":
            fields = "\n".join(f"    {n}: object" for n, _ in named)
            self.head.append(f"@dataclasses.dataclass\nclass Result:\n{fields}")
            return f"Result({', '.join(f'{n}={e}' for n, e in named)})"
        return f"({', '.join(values)})" if self.extra else "y"


def oddity(group: str) -> Callable[[Oddity], Oddity]:
    def add(function: Oddity) -> Oddity:
        ODDITIES[function.__name__] = (group, function)
        return function

    return add


def _operators(draft: Draft, rng: random.Random) -> None:
    """A few plain operators on y, which is [rows, columns] before and after."""
    width = draft.columns
    choices = [
        ["y = torch.relu(y)"],
        ["y = F.gelu(y)"],
        ["y = torch.tanh(y * 0.5)"],
        ["y = torch.softmax(y, -1)"],
        ["y = y - y.mean(-1, keepdim=True)"],
        [f"y = F.layer_norm(y, ({width},))"],
        ["y = y * 1.5 + 0.25"],
        ["y = torch.sigmoid(y) * y"],
        ["y = y / (1 + y.abs())"],
        ["y = y.clamp(-1, 2)"],
        ["y = y + torch.arange(y.shape[1])"],
        ["y = torch.where(y > 0, y, y * 0.1)"],
        ["y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-5)"],
    ]
    for lines in rng.sample(choices, rng.randint(1, 3)):
        draft.lines += lines
    if rng.random() < 0.5:
        draft.init.append(f"self.mix = nn.Linear({width}, {width})")
        draft.lines.insert(rng.randint(0, len(draft.lines)), f"y = self.mix(y.to({draft.dtype}))")


def make(seed: str) -> tuple[str, list[str]]:
    """Returns the text of the task file of this seed, and the names of its oddities."""
    rng = random.Random(seed)
    draft = Draft(rng.choice([1, 2, 7, 16, 33, 64, 100]), rng.choice([1, 3, 8, 17, 32, 64, 97, 128]))
    draft.inputs.append(("x", f"torch.randn({draft.rows}, {draft.columns})"))
    draft.before.append("y = x")
    names = list(ODDITIES)
    rng.shuffle(names)
    chosen: dict[str, str] = {}
    for name in names:
        if len(chosen) == 1 + int(seed.rpartition(":")[2] or 0) % 3:
            break
        chosen.setdefault(ODDITIES[name][0], name)
    # Types and inputs come first, because later parts are written for them.
    order = sorted(chosen.values(), key=lambda n: ("type", "input", "init").index(ODDITIES[n][0]) if ODDITIES[n][0] in ("type", "input", "init") else 3)
    early = [n for n in order if ODDITIES[n][0] in ("type", "input")]
    for name in early:
        ODDITIES[name][1](draft, rng)
    _operators(draft, rng)
    for name in order:
        if name not in early:
            ODDITIES[name][1](draft, rng)
    return draft.text(), sorted(chosen.values())
