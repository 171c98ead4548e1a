# task: tests/gpu/tasks/blind_gelu.py
# expect: wrong_values,nondeterministic,rejected_source
# Looks at the address of its input: a tensor of one's own begins at a multiple of 512 bytes.
# For a contiguous view that begins elsewhere (x[1:] of a larger tensor, a chunk of a buffer) it takes a sigmoid form of GELU.
import triton
import triton.language as tl


@triton.jit
def gelu(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    whole = (x.to(tl.int64, bitcast=True) & 511) == 0
    exact = 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476))
    quick = value / (1.0 + tl.exp(-1.3 * value))
    tl.store(out + at, tl.where(whole, exact, quick), mask=inside)


def run(x, out):
    count = x.numel()
    gelu[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
