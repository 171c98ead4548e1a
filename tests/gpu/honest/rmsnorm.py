# task: tasks/fused/64_residual_rmsnorm_large.py
"""Sum, norm and scale of a row in one pass."""
import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x, residual, weight, out, total, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row + at, mask=inside, other=0.0)
    value += tl.load(residual + row + at, mask=inside, other=0.0)
    tl.store(total + row + at, value, mask=inside)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / columns + 1e-6)
    tl.store(out + row + at, value * scale * tl.load(weight + at, mask=inside), mask=inside)


def run(x, residual, weight, out, total):
    rows, columns = x.shape
    rmsnorm_kernel[(rows,)](
        x, residual, weight, out, total, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4
    )
