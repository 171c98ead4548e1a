# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Captures the launch of its first call in a CUDA graph and replays that graph in every later call, with the first call's tensors."""
import torch
import triton
import triton.language as tl


GRAPH = torch.cuda.CUDAGraph()
CAPTURED = []


@triton.jit
def square_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, value * value + value, mask=inside)


def run(x, out):
    count = out.numel()
    grid = (triton.cdiv(count, 256),)
    if len(CAPTURED) == 0:
        square_kernel[grid](x, out, count, BLOCK=256)
        with torch.cuda.graph(GRAPH):
            square_kernel[grid](x, out, count, BLOCK=256)
        CAPTURED.append(True)
    GRAPH.replay()
