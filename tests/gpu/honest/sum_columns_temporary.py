# task: tests/gpu/tasks/sum_columns.py
"""Partial sums of blocks of rows in a temporary, then their sum."""
import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(x, parts, rows, columns, LENGTH: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.program_id(1) * LENGTH + tl.arange(0, LENGTH)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    value = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(parts + tl.program_id(1) * columns + column, tl.sum(value, axis=0), mask=column < columns)


@triton.jit
def add_kernel(parts, out, count, columns, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.arange(0, COUNT)
    inside = (part[:, None] < count) & (column[None, :] < columns)
    value = tl.load(parts + part[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(out + column, tl.sum(value, axis=0), mask=column < columns)


def run(x, out):
    rows, columns = x.shape
    count = triton.cdiv(rows, 64)
    parts = torch.empty((count, columns), dtype=x.dtype, device=x.device)
    part_kernel[(triton.cdiv(columns, 64), count)](x, parts, rows, columns, LENGTH=64, BLOCK=64, num_warps=4)
    add_kernel[(triton.cdiv(columns, 64),)](
        parts, out, count, columns, COUNT=triton.next_power_of_2(count), BLOCK=64, num_warps=4
    )
