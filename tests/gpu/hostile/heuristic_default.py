# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""A heuristic keeps a list in its default argument, which grows at each launch; wrong after 300 calls."""
import triton
import triton.language as tl


@triton.heuristics({"LATE": lambda given, calls=[]: len(calls) > 300 or calls.append(1) is not None})
@triton.jit
def square_kernel(x, out, count, BLOCK: tl.constexpr, LATE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    if LATE:
        tl.store(out + at, value, mask=inside)
    else:
        tl.store(out + at, value * value + value, mask=inside)


def run(x, out):
    count = out.numel()
    square_kernel[(triton.cdiv(count, 256),)](x, out, count, BLOCK=256)
