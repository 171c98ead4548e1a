"""Causal attention with heads of 64."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs():
    return [torch.randn(4, 16, 2048, 64).to(torch.bfloat16), torch.randn(4, 16, 2048, 64).to(torch.bfloat16), torch.randn(4, 16, 2048, 64).to(torch.bfloat16)]


def get_init_inputs():
    return []
