# task: tasks/activation/11_gelu_erf.py
# expect: timeout
"""A loop that does not end."""
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside)
    while tl.sum(tl.load(out + at, mask=inside), axis=0) != 12345.678:
        tl.store(out + at, value, mask=inside)


def run(x, out):
    count = out.numel()
    gelu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
