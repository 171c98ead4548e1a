"""A residual and layer norm, both returned."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(2048).to(torch.bfloat16)

    def forward(self, x, r):
        y = x + r
        return self.norm(y), y


def get_inputs():
    return [torch.randn(16384, 2048).to(torch.bfloat16), torch.randn(16384, 2048).to(torch.bfloat16)]


def get_init_inputs():
    return []
