"""Rotary embedding and causal attention."""

import torch
import torch.nn.functional as F
from torch import nn


def turned(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


class Model(nn.Module):
    def forward(self, q, k, v, cos, sin):
        q = q * cos + turned(q) * sin
        k = k * cos + turned(k) * sin
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs():
    return [*(torch.randn(4, 16, 1024, 128).to(torch.bfloat16) for _ in range(3)), torch.randn(1024, 128).to(torch.bfloat16), torch.randn(1024, 128).to(torch.bfloat16)]


def get_init_inputs():
    return []
