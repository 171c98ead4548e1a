"""Costs of a task as written: FLOPs, category and reduction length, determined from the operators that forward runs.

A Recorder observes one real run of forward below autograd, where composite operators are already decomposed (linear is
addmm, attention is one fused operator). So it works even if torch.export fails.

- FLOPs: torch.utils.flop_counter's formulas for products, convolutions and attention. Other operators cost
  one per output element, reductions one per input element, normalisations and softmax one per input and
  one per output element, and pooling one per window element. Moving data is free.
- Reduction length: how many roundings of a sum can accumulate in one output element. Along each path
  the terms of successive sums are *added* (relative errors of stages add, they do not multiply).
  Pointwise operators and exact selections (max, sort) add none. The longest path counts.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from pragma_torch.lightmode import LightMode

MATMUL = frozenset(
    "mm bmm addmm baddbmm addbmm mv addmv dot vdot linear matmul _cdist_forward _trilinear".split()
)
ACTIVATION = frozenset(
    """relu gelu sigmoid tanh silu elu selu celu leaky_relu softplus hardtanh hardsigmoid hardswish
    mish log_sigmoid_forward threshold clamp clamp_min clamp_max prelu _prelu_kernel glu softshrink
    hardshrink rrelu_with_noise relu6 erf""".split()
)
SOFTMAX = frozenset("_softmax _log_softmax softmax log_softmax _safe_softmax".split())
POOL_AVERAGE = frozenset("avg_pool1d avg_pool2d avg_pool3d".split())
POOL_EXACT = frozenset(
    """max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices mkldnn_max_pool2d
    max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d
    fractional_max_pool3d""".split()
)
EXACT = frozenset(
    "max min amax amin argmax argmin aminmax any all median nanmedian mode kthvalue".split()
)
SUMS = frozenset(
    """sum mean nansum prod var std var_mean std_mean linalg_vector_norm norm logsumexp _logsumexp
    adaptive_avg_pool1d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool2d adaptive_avg_pool3d
    trace""".split()
)
RUNNING = frozenset("cumsum cumprod logcumsumexp _logcumsumexp".split())
LOSSES = frozenset(
    """mse_loss smooth_l1_loss huber_loss nll_loss nll_loss_forward nll_loss2d_forward
    binary_cross_entropy binary_cross_entropy_with_logits soft_margin_loss multi_margin_loss
    multilabel_margin_loss_forward _ctc_loss""".split()
)
OTHER = frozenset(
    "sort topk cummax cummin _cummax_helper _cummin_helper unique_dim _unique2 bincount histc".split()
)
RECURRENT = frozenset("lstm gru rnn_tanh rnn_relu mkldnn_rnn_layer quantized_lstm _cudnn_rnn".split())
MOVES = frozenset(
    """clone copy copy_ _to_copy contiguous empty empty_like empty_strided new_empty full full_like
    new_full zeros zeros_like new_zeros ones ones_like new_ones scalar_tensor arange linspace eye
    cat stack index index_select gather take embedding fill fill_ zero_ constant_pad_nd
    reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
    replication_pad3d roll flip repeat tril triu tril_indices triu_indices masked_fill where
    _local_scalar_dense scatter slice_scatter select_scatter diag_embed nonzero masked_select
    lift_fresh lift_fresh_copy pixel_shuffle pixel_unshuffle channel_shuffle _reshape_alias
    _reshape_copy _unsafe_view upsample_nearest1d upsample_nearest2d upsample_nearest3d
    rand randn randint normal_ uniform_ bernoulli_ bernoulli""".split()
)


_REDUCTION = getattr(torch.Tag, "reduction", None)  # Torch 2.9 has no such tag


class Recorder(LightMode):
    """Sums the costs while forward runs. Lengths are kept per storage, so views and in-place operators are followed."""

    def __init__(self) -> None:
        super().__init__()
        self.flops = 0.0
        self.by_class: dict[str, float] = {}
        self.random = False
        self._lengths: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        try:
            self._record(func, args, kwargs, out)
        except (RuntimeError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
            pass  # an unusual operator: its costs are omitted and forward goes on
        return out

    def length_of(self, tensors: list[torch.Tensor]) -> int:
        """Returns the reduction length of a result, which is at least 1."""
        return max([1] + [self._lengths.get(_key(t), 0) for t in tensors])

    def _record(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        name = _base_name(func)
        bound = _Bound(func, args, kwargs)
        if torch.Tag.nondeterministic_seeded in func.tags and not _without_effect(name, bound):
            self.random = True
        inputs = _tensors((args, kwargs))
        outputs = _tensors(out)
        kind, terms, flops = _cost(func, name, bound, inputs, outputs)
        registered = flop_registry.get(func.overloadpacket)
        if registered is not None:
            flops = float(registered(*args, **kwargs, out_val=out))
        self.flops += flops
        self.by_class[kind] = self.by_class.get(kind, 0.0) + flops
        longest = max([0] + [self._lengths.get(_key(t), 0) for t in inputs])
        for tensor in outputs:
            self._lengths[_key(tensor)] = longest + terms


class _Bound:
    """An operator's arguments by the names in its schema."""

    def __init__(self, func: Any, args: Any, kwargs: Any) -> None:
        self._values = dict(kwargs)
        for parameter, value in zip(func._schema.arguments, args, strict=False):
            self._values[parameter.name] = value

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get(name, default)


def _key(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _base_name(func: Any) -> str:
    name = func.overloadpacket.__name__
    return name if name in MOVES else name.rstrip("_")


def _without_effect(name: str, bound: _Bound) -> bool:
    """Returns true for seeded operators that draw nothing here: attention without dropout."""
    attention = name.startswith("_scaled_dot_product") or name == "_fused_sdp_choice"
    return attention and not bound.get("dropout_p", 0.0)


def _cost(func: Any, name: str, bound: _Bound, inputs: Any, outputs: Any) -> tuple[str, int, float]:
    """Returns (class, terms added to the reduction length, FLOPs unless the flop counter has a formula)."""
    made = float(sum(t.numel() for t in outputs))
    taken = float(inputs[0].numel()) if inputs else 0.0
    if name in MATMUL or name.startswith("_scaled_dot_product"):
        return (
            "matmul",
            _product_terms(name, bound, inputs),
            2.0 * made * _product_terms(name, bound, inputs),
        )
    if "convolution" in name or name in (
        "conv1d",
        "conv2d",
        "conv3d",
        "_conv_depthwise2d",
        "thnn_conv2d",
    ):
        return "convolution", _convolution_terms(bound, inputs), 0.0
    if name in RECURRENT:
        return "matmul", _recurrent_terms(inputs), 2.0 * made * inputs[0].shape[-1]
    if "layer_norm" in name or "group_norm" in name or "batch_norm" in name or "rms_norm" in name:
        return (
            "normalization",
            _norm_terms(name, bound, inputs[0]),
            taken + float(outputs[0].numel()),
        )
    if name in SOFTMAX:
        return (
            "activation",
            inputs[0].shape[bound.get("dim", -1)] if inputs[0].dim() else 1,
            taken + made,
        )
    return _plain_cost(func, name, bound, inputs, outputs)


def _plain_cost(
    func: Any, name: str, bound: _Bound, inputs: Any, outputs: Any
) -> tuple[str, int, float]:
    made = float(sum(t.numel() for t in outputs))
    taken = float(inputs[0].numel()) if inputs else 0.0
    ratio = math.ceil(taken / outputs[0].numel()) if outputs and outputs[0].numel() else 1
    if name in POOL_AVERAGE or name in POOL_EXACT:
        window = _window(bound, inputs[0])
        terms = window if name in POOL_AVERAGE else 0
        return "pooling_reduction", terms, float(outputs[0].numel()) * max(window, 1)
    if name in EXACT:
        return ("arithmetic", 0, made) if len(inputs) > 1 else ("pooling_reduction", 0, taken)
    if name in SUMS:
        return "pooling_reduction", ratio, taken
    if name in RUNNING:
        return "other", inputs[0].shape[bound.get("dim", -1)] if inputs[0].dim() else 1, taken
    if name.startswith("nll_loss"):
        return (
            "other",
            math.ceil(inputs[1].numel() / max(outputs[0].numel(), 1)),
            float(inputs[1].numel()),
        )
    if name in LOSSES or name in OTHER:
        return "other", ratio if name in LOSSES else 0, taken
    if name.startswith(
        ("scatter", "index_add", "index_reduce", "index_put", "embedding_bag", "_embedding_bag")
    ):
        return "other", max(t.shape[0] if t.dim() else 1 for t in inputs), made
    if name.startswith("_fft"):
        return "other", max(1, math.ceil(math.log2(max(taken, 2)))), made
    if func.is_view or name in MOVES or not outputs:
        return "other", 0, 0.0
    if name in ACTIVATION:
        return "activation", 0, made
    if _REDUCTION in func.tags or (len(inputs) == 1 and ratio > 1):
        return "pooling_reduction", ratio, taken
    return "arithmetic", 0, made


def _product_terms(name: str, bound: _Bound, inputs: Any) -> int:
    if name.startswith("_scaled_dot_product"):
        query, key = bound.get("query"), bound.get("key")
        return query.shape[-1] + key.shape[-2]
    if name in ("addmm", "addmv", "baddbmm"):
        return inputs[1].shape[-1] + 1
    if name == "addbmm":
        return inputs[1].shape[-1] * inputs[1].shape[0] + 1
    return inputs[0].shape[-1] + (1 if name == "linear" and len(inputs) > 2 else 0)


def _convolution_terms(bound: _Bound, inputs: Any) -> int:
    weight = bound.get("weight", inputs[1])
    kernel = list(weight.shape[2:])
    bias = 1 if bound.get("bias") is not None else 0
    if not bound.get("transposed", False):
        return math.prod(weight.shape[1:]) + bias
    stride = list(bound.get("stride", [1])) * (
        len(kernel) if len(bound.get("stride", [1])) == 1 else 1
    )
    taps = math.prod(math.ceil(k / s) for k, s in zip(kernel, stride, strict=False))
    return weight.shape[0] // max(bound.get("groups", 1), 1) * taps + bias


def _recurrent_terms(inputs: Any) -> int:
    """Every step adds a product with the input and one with the state. The weights give the hidden size."""
    width = max((t.shape[-1] for t in inputs[1:] if t.dim() >= 2), default=1)
    return inputs[0].shape[0] * (inputs[0].shape[-1] + width)


def _norm_terms(name: str, bound: _Bound, value: torch.Tensor) -> int:
    if "group_norm" in name:
        return value.numel() // max(value.shape[0] * bound.get("group", 1), 1)
    if "batch_norm" in name:
        training = bound.get("training", bound.get("train", "no_training" not in name))
        return value.numel() // max(value.shape[1], 1) if training else 0
    return math.prod(bound.get("normalized_shape", value.shape[-1:]))


def _window(bound: _Bound, value: torch.Tensor) -> int:
    size = bound.get("kernel_size")
    if size is None:
        output = bound.get("output_size")
        if not output:
            return 1
        return math.prod(
            math.ceil(n / m) for n, m in zip(value.shape[-len(output) :], output, strict=True)
        )
    if isinstance(size, int):
        return size
    spatial = max(value.dim() - 2, 1)
    return size[0] ** spatial if len(size) == 1 else math.prod(size)


def category(recorder: Recorder, inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> str:
    """Returns one of PRAGMA's six categories, chosen by the heaviest class of operators. Hand-written patterns are
    recognised by their form."""
    weight = {key: value for key, value in recorder.by_class.items() if value > 0}
    if weight.get("matmul", 0) + weight.get("convolution", 0) > 0:
        weight.pop("arithmetic", None)
        return max(weight, key=lambda key: weight[key])
    floating = [t for t in inputs if t.is_floating_point() and t.dim() > 0]
    loss = len(inputs) > 1 and all(t.numel() == 1 for t in outputs)
    if "other" in weight or loss:
        return "other"
    if "normalization" in weight:
        return max(
            ("normalization", "pooling_reduction", "activation"), key=lambda key: weight.get(key, 0)
        )
    if "pooling_reduction" in weight:
        # A reduction that is broadcast back over its input is a hand-written normalisation.
        spread = any(o.shape == i.shape for o in outputs for i in floating)
        return "normalization" if spread else "pooling_reduction"
    if "activation" in weight or ("arithmetic" in weight and len(inputs) == 1):
        return "activation"
    return "other"
