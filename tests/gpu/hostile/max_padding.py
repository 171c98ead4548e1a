# task: tests/gpu/tasks/blind_rowmax_odd.py
# expect: wrong_values
# Pads the row's last block with -65504, the least number of half precision, instead of minus infinity.
# A row whose entries are all below that (scores under a mask of -1e9, or minus infinity) gives -65504.
import triton
import triton.language as tl


@triton.jit
def largest(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-65504.0)
    nan = tl.sum((value != value).to(tl.int32), axis=0)
    most = tl.max(value, axis=0)
    tl.store(out + row, tl.where(nan > 0, float("nan"), most))


def run(x, out):
    rows, columns = x.shape
    largest[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
