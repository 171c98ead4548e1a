"""Causal attention in which four heads share their keys and values."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def get_inputs():
    return [torch.randn(4, 32, 1024, 128).to(torch.bfloat16), torch.randn(4, 8, 1024, 128).to(torch.bfloat16), torch.randn(4, 8, 1024, 128).to(torch.bfloat16)]


def get_init_inputs():
    return []
