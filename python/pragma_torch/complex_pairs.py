"""Rewrites the complex numbers of an exported graph as pairs of real tensors, which is all that kernels know.

Each complex value becomes two nodes, its real and its imaginary part. A complex argument of the graph becomes a real
one whose last dimension has size 2 (plan.pairs_of). An operator without a rule below stays Torch's: its operands are
put together before it, and its results are taken apart after it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

aten = torch.ops.aten


class Pair(NamedTuple):
    """The two parts of a complex value: nodes of the graph, or numbers."""

    real: Any
    imag: Any


_Rule = Callable[..., Any]  # takes the rewriter and the node's arguments; returns a Pair, a node, or None: no rule


def real_graph(program: Any) -> Any:
    """Rewrites the graph of an exported and decomposed program in place, and returns the program."""
    if any(_is_complex(node) for node in program.graph.nodes):
        _Rewriter(program.graph_module).run()
    return program


def _is_complex(node: Any) -> bool:
    value = node.meta.get("val")
    values = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(v, torch.Tensor) and v.is_complex() for v in values)


class _Rewriter:
    """Puts the real operators before each node that reads or gives complex numbers, and removes that node."""

    def __init__(self, module: Any) -> None:
        self._graph = module.graph
        self._module = module
        self._pairs: dict[Any, Pair] = {}
        self._fakes: Any = None

    def run(self) -> None:
        replaced = []
        for node in list(self._graph.nodes):
            self._fakes = self._fakes or getattr(node.meta.get("val"), "fake_mode", None)
            if node.op == "output":
                node.args = torch.fx.node.map_arg(node.args, self._joined_before(node))
            elif node.op == "placeholder":
                if _is_complex(node):
                    self._take_apart_argument(node)
            elif _is_complex(node) or any(n in self._pairs for n in node.all_input_nodes):
                replaced += self._replace(node)
        for node in reversed(replaced):
            self._graph.erase_node(node)
        self._module.recompile()

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Adds an operator at the present place. Its value, without storage, is computed as export does."""
        node = self._graph.call_function(function, args, kwargs)
        with self._fakes, torch.no_grad():
            node.meta["val"] = function(*_values(args), **_values(kwargs))
        return node

    def _take_apart_argument(self, node: Any) -> None:
        with self._fakes, torch.no_grad():
            node.meta["val"] = torch.view_as_real(node.meta["val"])
        first = next(n for n in self._graph.nodes if n.op != "placeholder")
        with self._graph.inserting_before(first):
            self._pairs[node] = _view_as_complex(self, node)

    def _joined_before(self, node: Any) -> Callable[[Any], Any]:
        def joined(value: Any) -> Any:
            if value not in self._pairs:
                return value
            with self._graph.inserting_before(node):
                return _view_as_real(self, self._pairs[value])

        return joined

    def _replace(self, node: Any) -> list[Any]:
        """Returns the nodes that nothing reads any more."""
        pairs = self._pairs
        args, kwargs = _map(node.args, pairs), _map(dict(node.kwargs), pairs)
        with self._graph.inserting_before(node):
            rule = _RULES.get(node.target) if node.op == "call_function" else None
            found = rule(self, *args, **kwargs) if rule is not None else None
            if found is None and node.target in _LINEAR:
                found = self._of_both_parts(node, args, kwargs)
        if found is None:
            return self._keep(node)
        if isinstance(found, Pair):
            pairs[node] = found
        else:
            node.replace_all_uses_with(found)
        return [node]

    def _of_both_parts(self, node: Any, args: Any, kwargs: Any) -> Pair:
        """Applies an operator to both parts that moves elements or adds them up."""
        kwargs = {name: _real_dtype(value) for name, value in kwargs.items()}
        parts = [_map((args, kwargs), {}, lambda pair, part=part: pair[part]) for part in (0, 1)]
        return Pair(*(self.call(node.target, *a, **k) for a, k in parts))

    def _keep(self, node: Any) -> list[Any]:
        """Leaves the operator to Torch."""
        with self._graph.inserting_before(node):

            def whole(value: Any) -> Any:
                pair = self._pairs.get(value)
                return value if pair is None else self.call(aten.view_as_complex.default, _view_as_real(self, pair))

            node.args = torch.fx.node.map_arg(node.args, whole)
            node.kwargs = torch.fx.node.map_arg(node.kwargs, whole)
        if isinstance(node.meta.get("val"), torch.Tensor) and _is_complex(node):
            with self._graph.inserting_before(node.next):
                self._pairs[node] = _view_as_complex(self, self.call(aten.view_as_real.default, node))
        return []


def _map(value: Any, pairs: dict[Any, Pair], of_pair: Any = None) -> Any:
    """Replaces the nodes in nested arguments by their pairs, and pairs by what `of_pair` returns for them."""
    if isinstance(value, Pair):
        return of_pair(value) if of_pair else value
    if isinstance(value, (list, tuple)):
        return type(value)(_map(item, pairs, of_pair) for item in value)
    if isinstance(value, dict):
        return {key: _map(item, pairs, of_pair) for key, item in value.items()}
    return pairs.get(value, value) if isinstance(value, torch.fx.Node) else value


def _values(value: Any) -> Any:
    if isinstance(value, torch.fx.Node):
        return value.meta["val"]
    if isinstance(value, (list, tuple)):
        return type(value)(_values(item) for item in value)
    return {key: _values(item) for key, item in value.items()} if isinstance(value, dict) else value


_REAL = {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}


def _real_dtype(value: Any) -> Any:
    return _REAL.get(value, value) if isinstance(value, torch.dtype) else value


def _pair(value: Any) -> Pair:
    """Returns an operand of any kind as a pair. A real one has the imaginary part 0."""
    if isinstance(value, Pair):
        return value
    return Pair(value.real, value.imag) if isinstance(value, complex) else Pair(value, 0)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float))


def _arithmetic(tensors: Any, scalars: Any, numbers: Callable[[Any, Any], Any]) -> _Rule:
    """Returns an operator on two real operands: nodes, numbers, or a node and then a number."""

    def apply(r: _Rewriter, a: Any, b: Any) -> Any:
        if _is_number(a) and _is_number(b):
            return numbers(a, b)
        if _is_number(b):
            return r.call(scalars, a, b)
        return r.call(tensors, a, b)

    return apply


_plus = _arithmetic(aten.add.Tensor, aten.add.Scalar, operator.add)
_minus = _arithmetic(aten.sub.Tensor, aten.sub.Scalar, operator.sub)
_times = _arithmetic(aten.mul.Tensor, aten.mul.Scalar, operator.mul)


def _sum(r: _Rewriter, a: Any, b: Any) -> Any:
    if _is_number(a):
        a, b = b, a
    return a if _is_number(b) and b == 0 else _plus(r, a, b)


def _difference(r: _Rewriter, a: Any, b: Any) -> Any:
    if _is_number(b) and b == 0:
        return a
    if _is_number(a) and not _is_number(b):
        return _sum(r, r.call(aten.neg.default, b), a)
    return _minus(r, a, b)


def _product(r: _Rewriter, a: Any, b: Any) -> Any:
    if _is_number(a):
        a, b = b, a
    if _is_number(b) and b in (0, 1):
        return a if b == 1 else 0
    return _times(r, a, b)


def _partwise(combine: _Rule) -> _Rule:
    """Returns the rule of add or sub, which multiply their second operand by a factor `alpha`."""

    def rule(r: _Rewriter, a: Any, b: Any, alpha: Any = 1) -> Pair | None:
        (ar, ai), (br, bi) = _pair(a), _pair(_mul(r, b, alpha) if alpha != 1 else b)
        return _whole(r, combine(r, ar, br), combine(r, ai, bi))

    return rule


def _mul(r: _Rewriter, a: Any, b: Any) -> Any:
    (ar, ai), (br, bi) = _pair(a), _pair(b)
    real = _difference(r, _product(r, ar, br), _product(r, ai, bi))
    return _whole(r, real, _sum(r, _product(r, ar, bi), _product(r, ai, br)))


def _whole(r: _Rewriter, real: Any, imag: Any) -> Pair | None:
    """Returns the pair if both parts are tensors of one shape. A part that is a number, or smaller, is expanded."""
    nodes = [part for part in (real, imag) if isinstance(part, torch.fx.Node)]
    if not nodes:
        return None
    shape = torch.broadcast_shapes(*(tuple(n.meta["val"].shape) for n in nodes))
    like = nodes[0].meta["val"]
    parts = []
    for part in (real, imag):
        if not isinstance(part, torch.fx.Node):
            part = r.call(aten.full.default, list(shape), float(part), dtype=like.dtype)
        elif tuple(part.meta["val"].shape) != shape:
            part = r.call(aten.expand.default, part, list(shape))
        parts.append(part)
    return Pair(*parts)


def _div(r: _Rewriter, a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        return None
    if not isinstance(b, (Pair, complex)):
        divide = aten.div.Scalar if _is_number(b) else aten.div.Tensor
        return _whole(r, *(r.call(divide, part, b) for part in _pair(a))) if isinstance(a, Pair) else None
    if isinstance(b, complex):
        return _mul(r, a, 1 / b)
    return _quotient(r, _pair(a), b)


def _quotient(r: _Rewriter, above: Pair, below: Pair) -> Pair:
    """Divides as Torch does: part by part where the divisor is 0."""
    parts = [_tensor_like(r, part, below.real) for part in above]
    size = r.call(aten.maximum.default, *(r.call(aten.abs.default, part) for part in below))
    zero = r.call(aten.eq.Scalar, size, 0.0)
    plain = (r.call(aten.div.Tensor, part, size) for part in parts)
    divided = _smith(r, parts, below)
    return Pair(*(r.call(aten.where.self, zero, alone, part) for part, alone in zip(divided, plain, strict=True)))


def _smith(r: _Rewriter, above: list[Any], below: Pair) -> Pair:
    """Divides relative to the larger part of the divisor, whose square could be out of range (Smith, 1962)."""
    first = r.call(aten.ge.Tensor, *(r.call(aten.abs.default, part) for part in below))

    def chosen(a: Any, b: Any) -> Any:
        return r.call(aten.where.self, first, a, b)

    large, small = chosen(*below), chosen(*reversed(below))
    u, v = chosen(*above), chosen(*reversed(above))
    ratio = r.call(aten.div.Tensor, small, large)
    divisor = _sum(r, large, _product(r, small, ratio))
    real = _sum(r, u, _product(r, v, ratio))
    imag = _minus(r, v, _product(r, u, ratio))
    imag = chosen(imag, r.call(aten.neg.default, imag))
    return Pair(*(r.call(aten.div.Tensor, part, divisor) for part in (real, imag)))


def _tensor_like(r: _Rewriter, part: Any, like: Any) -> Any:
    if isinstance(part, torch.fx.Node):
        return part
    return r.call(aten.full.default, [], float(part), dtype=like.meta["val"].dtype)


def _abs(r: _Rewriter, a: Pair) -> Any:
    """Returns sqrt(re^2 + im^2), relative to the larger part, whose square could be out of range. Where one part is
    infinite, so is the result, whatever the other is."""
    parts = [r.call(aten.abs.default, part) for part in a]
    most, least = (r.call(function, *parts) for function in (aten.maximum.default, aten.minimum.default))
    ratio = r.call(aten.div.Tensor, least, most)
    square = r.call(aten.add.Scalar, r.call(aten.mul.Tensor, ratio, ratio), 1)
    size = r.call(aten.mul.Tensor, most, r.call(aten.sqrt.default, square))
    size = r.call(aten.where.self, r.call(aten.eq.Scalar, most, 0.0), most, size)
    infinity = _tensor_like(r, float("inf"), most)
    infinite = r.call(aten.logical_or.default, *(r.call(aten.eq.Scalar, part, float("inf")) for part in parts))
    return r.call(aten.where.self, infinite, infinity, size)


def _reciprocal(r: _Rewriter, a: Pair) -> Pair:
    return _smith(r, [_tensor_like(r, part, a.real) for part in (1.0, 0.0)], a)


def _exp(r: _Rewriter, a: Pair) -> Pair:
    return _polar(r, r.call(aten.exp.default, a.real), a.imag)


def _polar(r: _Rewriter, size: Any, angle: Any) -> Pair:
    parts = (r.call(function, angle) for function in (aten.cos.default, aten.sin.default))
    return Pair(*(r.call(aten.mul.Tensor, size, part) for part in parts))


def _view_as_real(r: _Rewriter, a: Pair) -> Any:
    return r.call(aten.stack.default, [a.real, a.imag], -1)


def _view_as_complex(r: _Rewriter, a: Any) -> Pair:
    return Pair(*(r.call(aten.select.int, a, -1, part) for part in (0, 1)))


def _to_copy(r: _Rewriter, a: Any, dtype: Any = None, **_: Any) -> Any:
    if isinstance(a, Pair):
        real = _real_dtype(dtype)
        if dtype is not None and real == dtype:
            return r.call(aten._to_copy.default, a.real, dtype=dtype)  # as Torch does: the imaginary part is lost
        return a if dtype is None else Pair(*(r.call(aten._to_copy.default, part, dtype=real) for part in a))
    part = r.call(aten._to_copy.default, a, dtype=_real_dtype(dtype))
    return _whole(r, part, 0)


def _products(function: Any) -> _Rule:
    """Returns the rule of a bilinear operator: a product of matrices."""

    def rule(r: _Rewriter, a: Any, b: Any) -> Pair | None:
        if not isinstance(a, Pair) or not isinstance(b, Pair):
            return None
        rr, ii, ri, ir = (r.call(function, x, y) for x, y in ((a[0], b[0]), (a[1], b[1]), (a[0], b[1]), (a[1], b[0])))
        return Pair(r.call(aten.sub.Tensor, rr, ii), r.call(aten.add.Tensor, ri, ir))

    return rule


def _joined(function: Any) -> _Rule:
    """Returns the rule of an operator that joins tensors. A real one among them has the imaginary part 0."""

    def rule(r: _Rewriter, tensors: Any, dim: int = 0) -> Pair:
        pairs = [tensor if isinstance(tensor, Pair) else _whole(r, tensor, 0) for tensor in tensors]
        return Pair(*(r.call(function, list(parts), dim) for parts in zip(*pairs, strict=True)))

    return rule


def _where(r: _Rewriter, condition: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, Pair) or not isinstance(b, Pair):
        return None
    return Pair(*(r.call(aten.where.self, condition, x, y) for x, y in zip(a, b, strict=True)))


def _padded(r: _Rewriter, a: Pair, pad: Any, value: Any = 0) -> Any:
    if value != 0:
        return None
    return Pair(*(r.call(aten.constant_pad_nd.default, part, pad, 0.0) for part in a))


def _square(r: _Rewriter, a: Pair, exponent: Any) -> Any:
    return _mul(r, a, a) if exponent == 2 else None


def _conjugated(r: _Rewriter, a: Pair) -> Pair:
    return Pair(a.real, r.call(aten.neg.default, a.imag))


def _same(r: _Rewriter, a: Any, *_: Any, **__: Any) -> Any:
    return a


_RULES: dict[Any, _Rule] = {
    aten.add.Tensor: _partwise(_sum),
    aten.add.Scalar: _partwise(_sum),
    aten.sub.Tensor: _partwise(_difference),
    aten.sub.Scalar: _partwise(_difference),
    aten.mul.Tensor: _mul,
    aten.mul.Scalar: _mul,
    aten.div.Tensor: _div,
    aten.div.Scalar: _div,
    aten.pow.Tensor_Scalar: _square,
    aten.reciprocal.default: _reciprocal,
    aten.abs.default: _abs,
    aten.exp.default: _exp,
    aten.angle.default: lambda r, a: r.call(aten.atan2.default, a.imag, a.real),
    aten._conj.default: _conjugated,
    aten._conj_physical.default: _conjugated,
    aten.conj_physical.default: _conjugated,
    aten._assert_tensor_metadata.default: _same,
    aten.resolve_conj.default: _same,
    aten.resolve_neg.default: _same,
    aten.clone.default: _same,
    aten.alias.default: _same,
    aten.detach.default: _same,
    aten.lift_fresh_copy.default: _same,
    aten.contiguous.default: _same,
    aten.real.default: lambda r, a: a.real,
    aten.imag.default: lambda r, a: a.imag,
    aten.view_as_real.default: _view_as_real,
    aten.view_as_complex.default: _view_as_complex,
    aten.complex.default: _whole,
    aten.polar.default: _polar,
    aten._to_copy.default: _to_copy,
    aten.mm.default: _products(aten.mm.default),
    aten.bmm.default: _products(aten.bmm.default),
    aten.matmul.default: _products(aten.matmul.default),
    aten.where.self: _where,
    aten.constant_pad_nd.default: _padded,
    aten.cat.default: _joined(aten.cat.default),
    aten.stack.default: _joined(aten.stack.default),
}

# Operators that move elements, or add them up: each part by itself.
_LINEAR = frozenset(
    (
        aten.view.default,
        aten._unsafe_view.default,
        aten.reshape.default,
        aten.permute.default,
        aten.transpose.int,
        aten.t.default,
        aten.unsqueeze.default,
        aten.squeeze.default,
        aten.squeeze.dim,
        aten.squeeze.dims,
        aten.expand.default,
        aten.slice.Tensor,
        aten.select.int,
        aten.diagonal.default,
        aten.unfold.default,
        aten.repeat.default,
        aten.flip.default,
        aten.roll.default,
        aten.index_select.default,
        aten.index.Tensor,
        aten.gather.default,
        aten.tril.default,
        aten.triu.default,
        aten.neg.default,
        aten.sum.default,
        aten.sum.dim_IntList,
        aten.mean.default,
        aten.mean.dim,
        aten.cumsum.default,
    )
)
