#!/usr/bin/env python3
"""Writes random tasks whose tensors have mixed types, each with an operator that the built-in expert does not write.

  mixed_modules.py DIR --count 60 --seed 7

They are drawn as those of random_modules.py are: floating types of 16, 32 and 64 bits follow each other, integers, masks and
places come in as inputs, and one operator in the middle is left to Torch, so that the rest is two islands. A module that Torch
itself cannot run is drawn again. `tests/odd/run.py --files DIR/*.py` optimises each and compares the result in float64.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from random_modules import LARGEST, SIZES, Module, elements, fold, normalise, pointwise, rearrange, scan, write_tasks

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
_DIFFERENT = 1_000_003  # between the seeds of two draws of one module


def typed_input(m: Module, shape: list[int], low: int, high: int, dtype: str) -> str:
    m.tensors.append(f"torch.randint({low}, {high}, ({', '.join(map(str, shape))},), dtype=torch.{dtype})")
    return f"input{len(m.tensors) - 1}"


def integers(m: Module) -> str:
    dtype = m.random.choice(INTEGERS)
    return typed_input(m, m.shape, 0 if dtype == "uint8" else -9, 10, dtype)


def convert(m: Module) -> None:
    m.add(f"x = x.to(torch.{m.random.choice(FLOATS)})")


def with_integers(m: Module) -> None:
    other = integers(m)
    m.add("x = " + m.random.choice([
        "x + {}", "x * ({} % 3)", "x - ({} >> 1)", "x * ({} > 2)", "torch.where(({} & 5) == 1, x, -x)",
        "x + {}.cumsum(0).clamp(-20, 20)", "x + {}.sum(-1, keepdim=True).clamp(-20, 20)", "x + ({} ^ 3) * 0.25",
        "x + {}.amax(-1, keepdim=True)", "torch.maximum(x, {}.to(x.dtype))", "x + {}.argmax(-1, keepdim=True) * 0.1",
    ]).format(other))


def with_mask(m: Module) -> None:
    mask = typed_input(m, m.shape, 0, 2, "int64") + ".bool()"
    m.add("x = " + m.random.choice([
        "torch.where({}, x, x * 0.5)", "x.masked_fill({}, 0.25)", "x * ~{}", "x + {}.sum(0, keepdim=True) * 0.1",
        "torch.where({} | (x != x), x, -x)", "x + {}.any(-1, keepdim=True)",
    ]).format(mask))


def with_places(m: Module) -> None:
    dim = m.dim()
    places = typed_input(m, [m.random.choice(SIZES)], 0, m.shape[dim], m.random.choice(("int32", "int64")))
    m.add(f"x = x.index_select({dim}, {places})")
    m.shape[dim] = int(m.tensors[-1].split("(")[2].split(",")[0])


def product(m: Module) -> None:
    size = m.random.choice(SIZES)
    m.add(f"x = torch.matmul(x, ({m.input([m.shape[-1], size])} * 0.3).to(x.dtype))")
    m.shape = [*m.shape[:-1], size]


def rows_norm(m: Module) -> None:
    m.add(f"x = F.layer_norm(x, ({m.shape[-1]},))")


def torchs_own(m: Module) -> None:
    """An operator that the expert leaves to Torch, or a Fourier transform."""
    kind = m.random.randrange(4) if len(m.shape) > 1 else m.random.randrange(2)
    if kind == 0:
        m.add("x = torch.fft.rfft(x.float(), dim=-1).abs()")
        m.shape[-1] = m.shape[-1] // 2 + 1
    elif kind == 1:
        m.add("x = torch.special.bessel_j1(x.float())")
    elif kind == 2:
        m.add("x = torch.linalg.svdvals(x.float())")
        m.shape = [*m.shape[:-2], min(m.shape[-2:])]
    else:
        m.add("x = torch.linalg.eigvalsh(torch.matmul(x.float(), x.float().mT))")
        m.shape = m.shape[:-1]


OPERATORS: tuple[tuple[Callable[[Module], None], int], ...] = (
    (pointwise, 5), (convert, 4), (with_integers, 4), (with_mask, 2), (with_places, 1), (fold, 2), (normalise, 1),
    (rows_norm, 1), (scan, 1), (product, 1), (rearrange, 2),
)  # fmt: skip


def chain(module: Module) -> None:
    makers, weights = zip(*OPERATORS, strict=True)
    for _ in range(module.random.randrange(2, 5)):
        if module.shape and elements(module.shape) <= LARGEST:
            module.random.choices(makers, weights)[0](module)


def drawn(seed: int) -> str:
    generator = random.Random(seed)
    shape = [generator.choice(SIZES[3:]) for _ in range(generator.choice((1, 2, 2, 3, 3)))]
    while elements(shape) > LARGEST:
        shape[shape.index(max(shape))] //= 2
    module = Module(generator, shape)
    module.add(f"x = {module.input(shape)}.to(torch.{generator.choice(FLOATS)})")
    chain(module)
    if module.shape:
        torchs_own(module)
    chain(module)
    return module.text()


def runs(text: str) -> bool:
    """Returns whether Torch can compute the module."""
    names: dict[str, Callable[..., object]] = {}
    exec(text, names)
    try:
        names["Model"]()(*names["get_inputs"]())  # type: ignore[operator, misc]
    except (RuntimeError, IndexError, ValueError, TypeError):
        return False
    return True


def draw(seed: int) -> str:
    text = drawn(seed)
    while not runs(text):
        seed += _DIFFERENT
        text = drawn(seed)
    return text


if __name__ == "__main__":
    write_tasks(__doc__, "mixed", draw)
