"""Puts verified kernels into a model of Torch, and takes them out again.

    import pragma_kernels as pk
    pk.apply(model, "fast/")   # the folder that `pragma model` wrote
    print(pk.explain(model))
    pk.remove(model)

A kernel serves a call if it was verified for it; every other call runs the module's original forward, and `stats` says how
often and why. Weights stay the module's own.
"""

from pragma_kernels.applied import Applied
from pragma_kernels.apply import apply, remove
from pragma_kernels.errors import PackageError
from pragma_kernels.report import by_unit, explain, slow_launches, stats

__all__ = ["Applied", "PackageError", "apply", "by_unit", "explain", "remove", "slow_launches", "stats"]
