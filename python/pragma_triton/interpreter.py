"""Adds what candidates use but Triton's interpreter lacks: libdevice, and reductions that do not take minutes.

It is used only without a GPU. There the functions of libdevice are empty, and a reduction or scan with a function of
the candidate is done element by element. Nothing is tuned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def complete() -> None:
    from triton.language.extra import libdevice
    from triton.runtime import interpreter

    for name, function in _FUNCTIONS.items():
        setattr(libdevice, name, _elementwise(function))
    interpreter.ReduceOps.generic_reduce = _reduce
    interpreter.ScanOps.generic_scan = _scan
    _make_ranges_of_tensors(interpreter)
    _multiply_bfloat16(interpreter)
    # Nothing is compiled, so the kernel itself is launched in place of its compiled form.
    interpreter.InterpretedFunction.warmup = lambda self, *_, **__: self
    _tune_nothing()


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "atan": np.arctan, "asin": np.arcsin,
    "acos": np.arccos, "erf": np.vectorize(math.erf, [np.float64]),
    "erfc": np.vectorize(math.erfc, [np.float64]), "trunc": np.trunc, "rint": np.rint,
    "floor": np.floor, "ceil": np.ceil, "abs": np.abs, "pow": np.power, "atan2": np.arctan2,
    "fmod": np.fmod, "div_rn": np.divide,
}  # fmt: skip


def _tune_nothing() -> None:
    """Always takes the first configuration, because times in the interpreter would not give a sensible choice."""
    import triton

    autotune = triton.autotune
    triton.autotune = lambda configs, *rest, **more: autotune(configs[:1], *rest, **more)


def _make_ranges_of_tensors(interpreter: Any) -> None:
    """The interpreter's scalars are arrays of one element, which newer versions of NumPy do not accept as numbers."""
    before = interpreter._patch_lang_tensor

    def after(tensor: Any, scope: Any) -> None:
        before(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = after


def _multiply_bfloat16(interpreter: Any) -> None:
    """The interpreter keeps a bfloat16 as the integer of its bits, and its products would be those of the integers."""
    before = interpreter.InterpreterBuilder.create_dot

    def widened(handle: Any) -> Any:
        import triton.language as tl

        if handle.dtype.scalar != tl.bfloat16:
            return handle
        bits = handle.data.view(np.uint16).astype(np.uint32) << 16
        return interpreter.TensorHandle(bits.view(np.float32), tl.float32)

    def after(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return before(self, widened(a), widened(b), *rest)

    interpreter.InterpreterBuilder.create_dot = after


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **_: Any) -> Any:
        import triton.language as tl

        first = next((a for a in arguments if isinstance(a, tl.tensor)), None)
        if first is None:
            return float(function(*arguments))  # of a constant
        values = [a.handle.data if isinstance(a, tl.tensor) else a for a in arguments]
        with np.errstate(all="ignore"):
            result = np.asarray(function(*values), dtype=first.handle.data.dtype)
        # A scalar is kept as an array of one element, but is not a block.
        blocks = any(a.type.is_block() for a in arguments if isinstance(a, tl.tensor))
        return _tensor(result, first.dtype) if blocks else _scalar(result, first.dtype)

    return call


def _scalar(data: Any, dtype: Any) -> Any:
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    return tl.tensor(TensorHandle(data, dtype.scalar), dtype.scalar)


def _tensor(data: Any, dtype: Any) -> Any:
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    whole = tl.block_type(dtype, list(data.shape)) if data.shape else dtype
    return tl.tensor(TensorHandle(data, dtype.scalar), whole)


def _combined(operation: Any, earlier: list[Any], later: list[Any], dtypes: list[Any]) -> list[Any]:
    """Applies the operation's function to two tuples of arrays."""
    arguments = [_tensor(d, t) for d, t in zip([*earlier, *later], [*dtypes, *dtypes], strict=True)]
    result = operation.combine_fn.fn(*arguments)
    several = result if isinstance(result, tuple) else (result,)
    return [part.handle.data for part in several]


def _reduce(operation: Any, given: Any) -> Any:
    """Combines halves with halves: the depth is that of a tree, not the length of the axis."""
    parts, axis = operation.unravel(given, operation.axis)
    dtypes = [part.dtype for part in parts]
    arrays = [np.moveaxis(part.handle.data, axis, 0) for part in parts]
    while len(arrays[0]) > 1:
        half = len(arrays[0]) // 2
        rest = [a[2 * half :] for a in arrays]
        pairs = _combined(operation, [a[:half] for a in arrays], [a[half : 2 * half] for a in arrays], dtypes)
        arrays = [np.concatenate([p, r]) for p, r in zip(pairs, rest, strict=True)]
    kept = [np.moveaxis(a, 0, axis) if operation.keep_dims else a[0] for a in arrays]
    return [_tensor(np.ascontiguousarray(a), t) for a, t in zip(kept, dtypes, strict=True)]


def _scan(operation: Any, given: Any) -> Any:
    dtypes = [part.dtype for part in given]
    arrays = [np.moveaxis(part.handle.data.copy(), operation.axis, 0) for part in given]
    for i in range(1, len(arrays[0])):
        step = _combined(operation, [a[i - 1] for a in arrays], [a[i] for a in arrays], dtypes)
        for array, value in zip(arrays, step, strict=True):
            array[i] = value
    return [
        _tensor(np.ascontiguousarray(np.moveaxis(a, 0, operation.axis)), t)
        for a, t in zip(arrays, dtypes, strict=True)
    ]
