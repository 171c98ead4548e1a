# task: tasks/activation/11_gelu_erf.py
# expect: crashed
"""torch computes through an operator that looks like arithmetic; the kernel copies."""
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside)
    tl.store(out + at, 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476)), mask=inside)


def run(x, out):
    count = out.numel()
    y = x * 0.5
    gelu_kernel[(triton.cdiv(count, 1024),)](y + y, out, count, BLOCK=1024)
