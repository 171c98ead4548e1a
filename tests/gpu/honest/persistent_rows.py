# task: tests/gpu/tasks/layernorm.py
"""A fixed number of programs, each of which walks over rows and loads the weights once."""
import triton
import triton.language as tl

PROGRAMS = 132


@triton.jit
def layernorm_kernel(x, weight, bias, out, rows, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    factor = tl.load(weight + at, mask=inside, other=0.0)
    shift = tl.load(bias + at, mask=inside, other=0.0)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        begin = row * columns
        value = tl.load(x + begin + at, mask=inside, other=0.0)
        mean = tl.sum(value, axis=0) / columns
        centred = tl.where(inside, value - mean, 0.0)
        scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + 1e-5)
        tl.store(out + begin + at, centred * scale * factor + shift, mask=inside)


def run(x, weight, bias, out):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    layernorm_kernel[(min(PROGRAMS, rows),)](x, weight, bias, out, rows, columns, BLOCK=block, num_warps=4)
