"""Attention over 1,000 tokens with heads of 96."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.randn(8, 12, 1000, 96).to(torch.bfloat16), torch.randn(8, 12, 1000, 96).to(torch.bfloat16), torch.randn(8, 12, 1000, 96).to(torch.bfloat16)]


def get_init_inputs():
    return []
