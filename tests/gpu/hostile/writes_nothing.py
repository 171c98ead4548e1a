# task: tasks/activation/11_gelu_erf.py
# expect: wrong_values
"""The kernel reads and stores nothing: what lies there is poison."""
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside)
    tl.static_assert(BLOCK > 0)


def run(x, out):
    count = out.numel()
    gelu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
