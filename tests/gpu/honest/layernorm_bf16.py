# task: tests/gpu/tasks/layernorm_bf16.py
"""Mean, then the spread about it, in fp32."""
import triton
import triton.language as tl


@triton.jit
def layernorm_kernel(x, weight, bias, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(inside, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
    factor = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * columns + at, (centred * scale * factor + shift).to(tl.bfloat16), mask=inside)


def run(x, weight, bias, out):
    rows, columns = x.shape
    layernorm_kernel[(rows,)](x, weight, bias, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
