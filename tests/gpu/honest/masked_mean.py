# task: tests/gpu/tasks/masked_mean.py
"""Sum and count of what the mask chooses, in one pass."""
import triton
import triton.language as tl


@triton.jit
def mean_kernel(x, mask, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    chosen = tl.load(mask + row * columns + at, mask=inside, other=0) != 0
    value = tl.load(x + row * columns + at, mask=inside & chosen, other=0.0)
    count = tl.sum(chosen.to(tl.int32), axis=0)
    tl.store(out + row, tl.sum(value, axis=0) / tl.maximum(count, 1).to(tl.float32))


def run(x, mask, out):
    rows, columns = x.shape
    mean_kernel[(rows,)](x, mask, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
