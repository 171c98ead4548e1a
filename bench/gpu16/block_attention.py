"""The attention of a transformer's block: projections of all heads, attention, projection."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 16
        self.project = nn.Linear(1024, 3072).to(torch.bfloat16)
        self.out = nn.Linear(1024, 1024).to(torch.bfloat16)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.project(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, width))


def get_inputs():
    return [torch.randn(8, 1024, 1024).to(torch.bfloat16)]


def get_init_inputs():
    return []
