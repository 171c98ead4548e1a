"""The process of a Triton candidate: one module of kernels with one `run(inputs…, outputs…)`, called on
copies of pragma's sets in device memory (docs/gpu.md).

Runs in a jail that holds neither the task's file nor expected outputs nor seeds. Nothing here is
trusted: the candidate shares this interpreter.
"""
