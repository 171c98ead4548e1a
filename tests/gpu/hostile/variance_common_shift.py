# task: tests/honest/tasks/variance.py
# expect: wrong_values
# One pass, shifted by the tensor's first entry: a mean that all rows share does no harm.
# Rows whose own means lie far from that (row r has mean 3000 r) cancel: their variance is off by per cents or negative.
import triton
import triton.language as tl


@triton.jit
def variance(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    shift = tl.load(x)
    shift = tl.where(tl.abs(shift) < float("inf"), shift, 0.0)
    value = tl.load(x + row * columns + at, mask=inside, other=0.0) - shift
    value = tl.where(inside, value, 0.0)
    mean = tl.sum(value, axis=0) / columns
    square = tl.sum(value * value, axis=0) / columns
    tl.store(out + row, square - mean * mean)


def run(x, out):
    rows, columns = x.shape
    variance[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
