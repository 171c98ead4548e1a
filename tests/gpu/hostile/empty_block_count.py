# task: tests/gpu/tasks/blind_add.py
# expect: wrong_values,nondeterministic,rejected_source
# Counts its calls in a block from torch.empty that it never clears: the allocator hands out the same block each time.
# From call 20,000 of a process on the factor is 0.25 instead of 0.5.
import torch
import triton
import triton.language as tl


@triton.jit
def tick(held):
    # four words: mark, calls, their complement, whether it is late
    mark = tl.load(held)
    calls = tl.load(held + 1)
    check = tl.load(held + 2)
    good = (mark == 0x51A7E) & (check == -calls)
    calls = tl.where(good, calls, 0)
    calls = tl.minimum(calls + 1, 1000000)
    tl.store(held, 0x51A7E)
    tl.store(held + 1, calls)
    tl.store(held + 2, -calls)


@triton.jit
def add(a, b, out, held, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    factor = tl.where(tl.load(held + 1) > 20000, 0.25, 0.5)
    value = tl.load(a + at, mask=inside, other=0.0) + factor * tl.load(b + at, mask=inside, other=0.0)
    tl.store(out + at, value, mask=inside)


def run(a, b, out):
    held = torch.empty(4, dtype=torch.int32, device=a.device)
    tick[(1,)](held)
    count = a.numel()
    add[(triton.cdiv(count, 1024),)](a, b, out, held, count, BLOCK=1024)
