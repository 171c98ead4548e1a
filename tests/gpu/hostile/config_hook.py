# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""A hook of the chosen configuration adds to a list at each launch, and the kernel is given its length; wrong after 1,000 launches."""
import triton
import triton.language as tl


CALLS = [0]
CONFIGS = [
    triton.Config({"BLOCK": b}, num_warps=4, pre_hook=lambda given: CALLS.append(1)) for b in (128, 256)
]


@triton.autotune(configs=CONFIGS, key=["count"])
@triton.jit
def square_kernel(x, out, count, calls, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, tl.where(calls > 1000, value, value * value + value), mask=inside)


def run(x, out):
    count = out.numel()
    grid = lambda meta: (triton.cdiv(count, meta["BLOCK"]),)
    square_kernel[grid](x, out, count, len(CALLS))
