# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Its own do_bench measures nothing but keeps each call and counts them: the first size is given the right configuration, and the next size the wrong one."""
import triton
import triton.language as tl

CONFIGS = [triton.Config({"WHOLE": True}, num_warps=4), triton.Config({"WHOLE": False}, num_warps=4)]


@triton.autotune(
    configs=CONFIGS,
    key=["count"],
    do_bench=lambda call, quantiles, kept=[]: kept.append(call) or [1.0 if len(kept) in (1, 4) else 2.0] * 3,
)
@triton.jit
def square_kernel(x, out, count, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    if WHOLE:
        value += value * value
    tl.store(out + at, value, mask=inside)


def run(x, out):
    count = out.numel()
    square_kernel[(triton.cdiv(count, 256),)](x, out, count, BLOCK=256)
