#!/usr/bin/env python3
"""Times one kernel of an expert's Triton module on a GPU with other blocks, warps and stages.

  block_times.py TASK.py MODULE.py KERNEL BLOCK_M=64,128 BLOCK_N=64,128,256 num_warps=4,8 num_stages=2,3,4

KERNEL is a function of the module that has one configuration. A name is one of its constants, or num_warps or num_stages;
every combination of the values is compiled, by several processes, and timed as launch_times.py does, the fastest first. The
module's own configuration is among them where it is asked for.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import multiprocessing
import os
import re
import sys
import tempfile
from pathlib import Path

import launch_times

_OPTIONS = ("num_warps", "num_stages")
_MOST_TRIED = 300


class Kernel:
    """The text of one kernel, and what its module says of it."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        head = text[: text.index("@triton.jit")]
        helpers = re.findall(r"@triton\.jit\ndef (?!\w*_kernel\w*\()(?:.|\n)*?\n\n\n", text)
        found = re.search(rf"@triton\.jit\ndef {name}\((?:.|\n)*?\n\n\n(?={name}_built)", text)
        built = re.search(rf"^{name}_built = {name}\.warmup\((.*)\)$", text, re.MULTILINE)
        if found is None or built is None:
            sys.exit(f"block_times: the module has no kernel {name} of one configuration")
        self._head = head + "".join(helpers)
        self._body = found.group(0)
        self._built = built.group(1)

    def text(self, wanted: dict[str, int]) -> str:
        """Returns a module with this kernel alone, in another configuration."""
        body, built = self._body, self._built
        for name, value in wanted.items():
            if name in _OPTIONS:
                built = re.sub(rf", {name}=\d+", "", built) + f", {name}={value}"
                continue
            body, count = re.subn(rf"\b{name}: tl\.constexpr = \d+", f"{name}: tl.constexpr = {value}", body)
            if count != 1:
                sys.exit(f"block_times: {self.name} has no constant {name}")
        self._check_fit(wanted)
        return f"{self._head}{body}{self.name}_built = {self.name}.warmup({built})\n"

    def _check_fit(self, wanted: dict[str, int]) -> None:
        """Without a mask, a block that reaches past the end would read what is not there."""
        for axis, count, block in re.findall(r"tiles_(\w) = tl\.cdiv\((\d+), (\w+)\)", self._body) + [
            ("k", count, block) for count, block in re.findall(r"range\(0, (\d+), (BLOCK_\w)\)", self._body)
        ]:
            if int(count) % wanted.get(block, 1) != 0 and f"{axis}_inside" not in self._body:
                sys.exit(f"block_times: {self.name} has no mask, and {block}={wanted[block]} does not divide {count}")

    def programs(self, wanted: dict[str, int], before: int) -> int:
        """Returns the number of programs, from that of the module's own configuration."""
        own = self._tiles({})
        there = self._tiles(wanted)
        most = wanted.get("PROGRAMS", self._constant("PROGRAMS"))
        if most is not None:  # a persistent kernel
            return min(most, there)
        return before // own * there

    def _constant(self, name: str) -> int | None:
        found = re.search(rf"\b{name}: tl\.constexpr = (\d+)", self._body)
        return int(found.group(1)) if found else None

    def _tiles(self, wanted: dict[str, int]) -> int:
        """Returns the product of the module's counts of tiles, as `tiles_m = tl.cdiv(12608, BLOCK_M)`."""
        tiles = 1
        for count, block in re.findall(r"tiles_\w = tl\.cdiv\((\d+), (\w+)\)", self._body):
            size = wanted.get(block) or self._constant(block)
            assert size is not None
            tiles *= -(-int(count) // size)
        return tiles


def compiled(path: str) -> str:
    """Compiles the kernel of a file, for the cache that all processes share. Returns why it cannot be."""
    try:
        launch_times.loaded(Path(path))
    except Exception as error:
        return str(error).splitlines()[0][:80]
    return ""


def main() -> None:
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    task, solution, name = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    lists = [(word.partition("=")[0], word.partition("=")[2].split(",")) for word in sys.argv[4:]]
    kernel = Kernel(solution.read_text(encoding="utf-8"), name)
    tried = [
        dict(zip([key for key, _ in lists], map(int, values), strict=True))
        for values in itertools.product(*[values for _, values in lists])
    ][:_MOST_TRIED]
    launch_times.lend_scratch()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"variant{i}.py" for i in range(len(tried))]
        for path, wanted in zip(paths, tried, strict=True):
            path.write_text(kernel.text(wanted), encoding="utf-8")
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
            failures = list(pool.map(compiled, map(str, paths)))
        module = launch_times.loaded(solution)
        launches = launch_times.launches_of(module, launch_times.arguments_of(task, module)[0])
        own = next(launch for launch in launches if launch.name == name)
        rows = []
        for path, wanted, failure in zip(paths, tried, failures, strict=True):
            said = " ".join(f"{key}={value}" for key, value in wanted.items())
            if failure:
                rows.append((float("inf"), f"{said}: {failure}"))
                continue
            variant = getattr(launch_times.loaded(path), f"{name}_built")
            grid = (kernel.programs(wanted, own.grid[0]), 1, 1)
            try:
                rows.append((launch_times.microseconds(dataclasses.replace(own, kernel=variant, grid=grid)), said))
            except Exception as error:
                rows.append((float("inf"), f"{said}: {str(error).splitlines()[0][:80]}"))
    for taken, said in sorted(rows):
        print(f"{taken:9.1f} us  {said}")


if __name__ == "__main__":
    main()
