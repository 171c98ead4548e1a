# task: tests/honest/tasks/sigmoid.py
# expect: wrong_values
# Takes everything below -18 for 'zero in any case' and saves the exponential's far end.
# sigmoid(-20) is 2e-9 and not 0: its logarithm, or a ratio of two such probabilities, becomes infinite or NaN.
import triton
import triton.language as tl


@triton.jit
def sigmoid(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    result = 1.0 / (1.0 + tl.exp(-value))
    tl.store(out + at, tl.where(value < -18.0, 0.0, result), mask=inside)


def run(x, out):
    count = x.numel()
    sigmoid[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
