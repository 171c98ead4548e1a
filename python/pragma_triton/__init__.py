"""The process of a Triton candidate: one module of kernels with one `run(inputs…, outputs…)`, which is called on copies
of pragma's sets in device memory (docs/gpu.md).

It runs in a jail that contains neither the task's file nor expected outputs nor seeds. Nothing here is trusted, because
the candidate shares this interpreter.
"""
