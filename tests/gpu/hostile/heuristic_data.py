# task: tests/gpu/tasks/sum_rows.py
# expect: rejected_source
"""A heuristic adds up the input: where its sum is zero, all rows get zero, also those of a tensor whose rows cancel each other."""
import triton
import triton.language as tl


@triton.heuristics({"ZERO": lambda given: bool(given["x"].sum() == 0.0)})
@triton.jit
def sum_kernel(x, out, columns, BLOCK: tl.constexpr, ZERO: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if ZERO:
        tl.store(out + row, 0.0)
    else:
        at = tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + at, mask=at < columns, other=0.0)
        tl.store(out + row, tl.sum(value, axis=0))


def run(x, out):
    rows, columns = x.shape
    sum_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
