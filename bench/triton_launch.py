"""Measures the host time of a launch in microseconds: 2000 in a row, and bursts of 30 after a sleep. Needs a GPU.

plain: kernel[grid]; built: the kernel that warmup returns; bound: its launcher, stored; stream: with the stream given;
run, raw, ptr: successively closer to the driver; eager: Torch's relu; empty: torch.empty.
"""

import time

import torch
import triton
import triton.language as tl


@triton.jit
def plain(x, out, BLOCK: tl.constexpr = 1024):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.maximum(tl.load(x + at), 0.0))
@triton.jit
def baked(x, out):
    BLOCK: tl.constexpr = 1024
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.maximum(tl.load(x + at), 0.0))
built = baked.warmup(torch.float32, torch.float32, grid=(1,))
x = torch.randn(16, 16384, device="cuda")
out = torch.empty_like(x)
sets = [(torch.randn(16, 16384, device="cuda"), torch.empty(16, 16384, device="cuda")) for _ in range(32)]
m = torch.nn.ReLU()
bound = built[(256, 1, 1)]
stream = torch.cuda.current_stream().cuda_stream
fn, run = built.function, built.run
def f_plain(x, o): plain[(256,)](x, o)
def f_built(x, o): built[(256, 1, 1)](x, o)
def f_bound(x, o): bound(x, o)
def f_stream(x, o): built[(256, 1, 1)](x, o, stream=stream)
def f_run(x, o): run(256, 1, 1, stream, fn, built.packed_metadata, None, None, None, x, o)
def f_raw(x, o): run.launch(256, 1, 1, stream, fn, False, False, None, None, built.packed_metadata, None, None, None, x, o)
def f_ptr(x, o): run.launch(256, 1, 1, stream, fn, False, False, None, None, built.packed_metadata, None, None, None, x.data_ptr(), o.data_ptr())
def f_eager(x, o): m(x)
def f_empty(x, o): torch.empty(1024, dtype=torch.float32, device=o.device)
for name, f in list(globals().items()):
    if not name.startswith("f_"):
        continue
    with torch.no_grad():
        for _ in range(200):
            f(x, out)
        torch.cuda.synchronize()
        t = time.perf_counter()
        for _ in range(2000):
            f(x, out)
        torch.cuda.synchronize()
        hot = (time.perf_counter() - t) / 2000 * 1e6
        cold = []
        for _ in range(20):
            time.sleep(0.02)
            torch.zeros(1, device="cuda")
            torch.cuda.synchronize()
            t = time.perf_counter()
            for a, b in sets[:30]:
                f(a, b)
            torch.cuda.synchronize()
            cold.append((time.perf_counter() - t) / 30 * 1e6)
        print(f"{name:10} hot {hot:.2f} us, bursts of 30 after a sleep {sorted(cold)[10]:.2f} us", flush=True)
