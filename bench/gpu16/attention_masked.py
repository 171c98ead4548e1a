"""Attention with a boolean mask for each sequence."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v, seen):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def get_inputs():
    return [torch.randn(4, 16, 1024, 64).to(torch.bfloat16), torch.randn(4, 16, 1024, 64).to(torch.bfloat16), torch.randn(4, 16, 1024, 64).to(torch.bfloat16), torch.rand(4, 1, 1024, 1024) > 0.2]


def get_init_inputs():
    return []
