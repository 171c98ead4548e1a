"""The process of a Python candidate: one solution file (`ModelNew`) on pragma's ring.

It runs in its own jail, which contains neither the task's file nor expected outputs nor seeds
(docs/python-candidates.md). Nothing here is trusted, because the candidate shares this interpreter.
"""
