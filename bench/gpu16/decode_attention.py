"""Attention of one token to 4,096 that are cached."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.randn(16, 32, 1, 128).to(torch.bfloat16), torch.randn(16, 32, 4096, 128).to(torch.bfloat16), torch.randn(16, 32, 4096, 128).to(torch.bfloat16)]


def get_init_inputs():
    return []
