# task: tests/gpu/tasks/blind_logcumsumexp.py
# expect: wrong_values
# A scan whose step is m + log(exp(a - m) + exp(b - m)) with m the larger of both.
# Two neighbours of minus infinity (a mask over the row's beginning) give inf - inf: NaN from there to the row's end.
import triton
import triton.language as tl


@triton.jit
def join(a, b):
    most = tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
    least = tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
    rest = tl.exp(least - most)
    # log(1 + rest), also where rest is small
    whole = 1.0 + rest
    more = tl.where(whole == 1.0, rest, tl.log(whole) * (rest / (whole - 1.0)))
    return tl.where(most == float("inf"), most, most + more)


@triton.jit
def scan_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row + at, mask=inside, other=0.0)
    tl.store(out + row + at, tl.associative_scan(value, 0, join), mask=inside)


def run(x, out):
    rows, columns = x.shape
    scan_rows[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
