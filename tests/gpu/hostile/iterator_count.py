# task: tests/honest/tasks/transpose.py
# expect: wrong_values,rejected_source
# Counts its calls with an iterator that lives in the module: no name is ever assigned again.
# From call 15,000 of a process on two columns of the result change places.
import triton
import triton.language as tl

STEPS = iter(range(1000000000))


@triton.jit
def transpose(x, out, rows, columns, flip, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    row = tl.arange(0, BLOCK)
    inside = row < rows
    source = tl.where(row < 2, row ^ flip, row)
    value = tl.load(x + source * columns + column, mask=inside, other=0.0)
    tl.store(out + column * rows + row, value, mask=inside)


def run(x, out):
    rows, columns = x.shape
    flip = next(STEPS) // 15000
    flip = min(flip, 1)
    transpose[(columns,)](x, out, rows, columns, flip, BLOCK=triton.next_power_of_2(rows))
