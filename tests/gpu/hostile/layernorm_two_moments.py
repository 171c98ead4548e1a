# task: tests/gpu/tasks/layernorm.py
# expect: wrong_values
"""Variance as E[x^2] - E[x]^2 in fp32: nothing is left of it far from zero."""
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x, weight, bias, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(value, axis=0) / columns
    variance = tl.maximum(tl.sum(value * value, axis=0) / columns - mean * mean, 0.0)
    scale = tl.rsqrt(variance + 1e-5)
    result = (value - mean) * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, result, mask=inside)


def run(x, weight, bias, out):
    rows, columns = x.shape
    layernorm_kernel[(rows,)](x, weight, bias, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
