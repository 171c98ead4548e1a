#!/usr/bin/env python3
"""Writes random tasks for the built-in expert: chains of operators over odd, prime and size-1 shapes.

  random_modules.py DIR --count 60 --seed 7

The same seed writes the same files. Each is a task in KernelBench's format; what it computes is not
useful, only unlike anything that the expert was written for. `bench/expert_suite.py --dir DIR`
then says of each whether a kernel passed, was refused with the operator named, or was wrong.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

SIZES = (1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 67)
LARGEST = 60_000  # elements of a tensor

TEMPLATE = '''import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
{layers}

    def forward(self, {inputs}):
{body}
        return {result}


def get_inputs():
    return [{tensors}]


def get_init_inputs():
    return []
'''


@dataclass
class Module:
    """A module while it is drawn: the present value is `x` of `shape`."""

    random: random.Random
    shape: list[int]
    layers: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.body.append(line)

    def layer(self, text: str) -> str:
        name = f"self.layer{len(self.layers)}"
        self.layers.append(f"{name} = {text}")
        return name

    def input(self, shape: list[int]) -> str:
        self.tensors.append(f"torch.randn({', '.join(map(str, shape))})" if shape else "torch.randn(())")
        return f"input{len(self.tensors) - 1}"

    def dim(self) -> int:
        return self.random.randrange(len(self.shape))

    def text(self) -> str:
        """Returns the task."""
        return TEMPLATE.format(
            layers="\n".join(f"        {line}" for line in self.layers) or "        pass",
            inputs=", ".join(f"input{i}" for i in range(len(self.tensors))),
            body="\n".join(f"        {line}" for line in self.body),
            result="x",
            tensors=", ".join(self.tensors),
        )


def pointwise(m: Module) -> None:
    m.add("x = " + m.random.choice([
        "F.relu(x)", "torch.sigmoid(x)", "torch.tanh(x)", "F.gelu(x)", "F.silu(x)", "F.mish(x)",
        "F.softplus(x)", "F.elu(x)", "F.hardswish(x)", "F.leaky_relu(x, 0.1)", "torch.sin(x)",
        "torch.exp(-x.abs())", "torch.log1p(x * x)", "x.clamp(-0.7, 0.9)", "torch.sqrt(x.abs() + 0.1)",
        "x * 0.5 - 1.25", "torch.where(x > 0.1, x, x * x)", "x.square() / (1 + x.abs())",
        "F.selu(x)", "torch.erf(x)", "F.gelu(x, approximate='tanh')", "F.hardtanh(x)", "torch.sign(x) * x",
    ]))


def with_other(m: Module) -> None:
    shape = [size if m.random.random() < 0.6 else 1 for size in m.shape]
    while shape and shape[0] == 1 and m.random.random() < 0.5:
        shape = shape[1:]
    other = m.input(shape)
    m.add("x = " + m.random.choice(["x + {}", "x * {}", "x - {}", "torch.maximum(x, {})", "{} - x"]).format(other))


def fold(m: Module) -> None:
    if len(m.shape) < 2:
        return pointwise(m)
    dim, keep = m.dim(), m.random.random() < 0.5
    name = m.random.choice(["sum", "mean", "amax", "amin", "logsumexp", "var"])
    if name == "var" and m.shape[dim] < 2:
        name = "mean"
    m.add(f"x = torch.{name}(x, dim={dim}, keepdim={keep})")
    m.shape[dim : dim + 1] = [1] if keep else []


def normalise(m: Module) -> None:
    dim = m.dim()
    kind = m.random.randrange(4)
    if kind == 0:
        m.add(f"x = torch.softmax(x, dim={dim})")
    elif kind == 1:
        m.add(f"x = torch.log_softmax(x, dim={dim})")
    elif kind == 2:
        m.add(f"x = x / (x.norm(dim={dim}, keepdim=True) + 0.5)")
    else:
        m.add(f"x = {m.layer(f'nn.LayerNorm({m.shape[-1]})')}(x)")


def scan(m: Module) -> None:
    name = m.random.choice(["cumsum(x * 0.1", "cumprod(0.9 + 0.1 * torch.tanh(x)", "cumsum(x.flip({d}) * 0.1"])
    dim = m.dim()
    m.add(f"x = torch.{name.format(d=dim)}, dim={dim})")


def linear(m: Module) -> None:
    size = m.random.choice(SIZES)
    m.add(f"x = {m.layer(f'nn.Linear({m.shape[-1]}, {size}, bias={m.random.random() < 0.7})')}(x)")
    m.shape[-1] = size


def product(m: Module) -> None:
    size = m.random.choice(SIZES)
    m.add(f"x = torch.matmul(x, {m.input([m.shape[-1], size])} * 0.3)")
    m.shape = [*m.shape[:-1], size]


def rearrange(m: Module) -> None:
    rank = len(m.shape)
    kind = m.random.randrange(6)
    if kind == 0 and rank > 1:
        order = m.random.sample(range(rank), rank)
        m.add(f"x = x.permute({', '.join(map(str, order))})")
        m.shape = [m.shape[i] for i in order]
    elif kind == 1 and rank > 1:
        m.add("x = x.flatten(0, 1)")
        m.shape = [m.shape[0] * m.shape[1], *m.shape[2:]]
    elif kind == 2:
        dim = m.dim()
        m.add(f"x = torch.cat([x, x * 2], dim={dim})")
        m.shape[dim] *= 2
    elif kind == 3:
        dim = m.dim()
        if m.shape[dim] > 2:
            m.add(f"x = x.narrow({dim}, 1, {m.shape[dim] - 2})")
            m.shape[dim] -= 2
    elif kind == 4:
        m.add(f"x = x.flip({m.dim()})")
    else:
        before, after = m.random.randrange(3), m.random.randrange(3)
        m.add(f"x = F.pad(x, ({before}, {after}), value=0.5)")
        m.shape[-1] += before + after


def image(m: Module) -> None:
    """A convolution or pooling, where the shape is one of images."""
    if len(m.shape) != 4 or min(m.shape[2:]) < 3:
        return pointwise(m)
    kind = m.random.randrange(4)
    if kind == 0:
        out, kernel, pad = m.random.choice((1, 3, 5, 8)), m.random.choice((1, 2, 3)), m.random.randrange(2)
        m.add(f"x = {m.layer(f'nn.Conv2d({m.shape[1]}, {out}, {kernel}, padding={pad})')}(x)")
        m.shape = [m.shape[0], out, *(size + 2 * pad - kernel + 1 for size in m.shape[2:])]
    elif kind == 1:
        out, stride = m.random.choice((1, 2, 3)), m.random.choice((1, 2))
        m.add(f"x = {m.layer(f'nn.ConvTranspose2d({m.shape[1]}, {out}, 2, stride={stride})')}(x)")
        m.shape = [m.shape[0], out, *((size - 1) * stride + 2 for size in m.shape[2:])]
    elif kind == 2:
        m.add(f"x = F.{m.random.choice(('max_pool2d', 'avg_pool2d'))}(x, 3, stride=2, padding=1)")
        m.shape = [*m.shape[:2], *((size - 1) // 2 + 1 for size in m.shape[2:])]
    elif m.shape[0] * m.shape[2] * m.shape[3] > 1:
        m.add(f"x = {m.layer(f'nn.BatchNorm2d({m.shape[1]})')}(x)")


OPERATORS: tuple[tuple[Callable[[Module], None], int], ...] = (
    (pointwise, 6), (with_other, 3), (fold, 2), (normalise, 2), (scan, 1), (linear, 2), (product, 1),
    (rearrange, 4), (image, 4),
)


def draw(seed: int) -> str:
    generator = random.Random(seed)
    rank = generator.choice((1, 2, 2, 3, 3, 4, 4, 4))
    shape = [generator.choice(SIZES) for _ in range(rank)]
    while elements(shape) > LARGEST:
        shape[shape.index(max(shape))] //= 2
    module = Module(generator, shape)
    module.add("x = " + module.input(shape))
    makers, weights = zip(*OPERATORS, strict=True)
    for _ in range(generator.randrange(2, 9)):
        generator.choices(makers, weights)[0](module)
        if not module.shape or elements(module.shape) > LARGEST:
            break
    return module.text()


def elements(shape: list[int]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def write_tasks(description: str | None, kind: str, draw: Callable[[int], str]) -> None:
    """Writes the tasks for which the command line asks. `draw` returns the one of a seed."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for i in range(args.count):
        (args.folder / f"{i + 1}_{kind}.py").write_text(draw(args.seed * 100_000 + i))


if __name__ == "__main__":
    write_tasks(__doc__, "random", draw)
