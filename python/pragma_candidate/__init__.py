"""The process of a Python candidate: one solution file (`ModelNew`) on pragma's ring.

Runs in a jail of its own that holds neither the task's file nor expected outputs nor seeds
(docs/python-candidates.md). Nothing here is trusted: the candidate shares this interpreter.
"""
