# task: tests/gpu/tasks/blind_centre.py
# expect: wrong_values,nondeterministic,rejected_source
# Counts its launches in a list that a function given to triton.heuristics lengthens: it is called before each launch.
# From launch 20,000 of a process on the mean is taken without the row's last 32 entries.
import triton
import triton.language as tl

LAUNCHES = []


@triton.heuristics({
    "BLOCK": lambda given: triton.next_power_of_2(given["columns"]),
    "USED": lambda given: 0 if LAUNCHES.append(1) is None and len(LAUNCHES) < 20000 else 32,
})
@triton.jit
def centre_rows(x, out, columns, BLOCK: tl.constexpr, USED: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row + at, mask=at < columns, other=0.0)
    mean = tl.sum(tl.where(at < columns - USED, value, 0.0), axis=0) / columns
    tl.store(out + row + at, value - mean, mask=at < columns)


def run(x, out):
    rows, columns = x.shape
    centre_rows[(rows,)](x, out, columns)
