# task: tests/gpu/tasks/softmax_rows.py
# expect: rejected_source
"""Looks at the values of the first call's input to choose its configuration: for ordinary ones it takes that without a maximum, and keeps it."""
import triton
import triton.language as tl

CONFIGS = [triton.Config({"SHIFT": True}, num_warps=4), triton.Config({"SHIFT": False}, num_warps=4)]


@triton.autotune(
    configs=CONFIGS,
    key=["columns"],
    prune_configs_by={
        "early_config_prune": lambda configs, given, **more: configs[:1] if given["x"].max() > 80.0 else configs[1:]
    },
)
@triton.jit
def row_kernel(x, out, columns, BLOCK: tl.constexpr, SHIFT: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    if SHIFT:
        value -= tl.max(value, axis=0)
    value = tl.exp(value)
    tl.store(out + row * columns + at, value / tl.sum(value, axis=0), mask=inside)


def run(x, out):
    rows, columns = x.shape
    row_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
