"""The same for one token."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (4096, 4096), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(4096).to(torch.bfloat16) / 64)

    def forward(self, x):
        return x @ self.weight.to(x.dtype).t() * self.scale


def get_inputs():
    return [torch.randn(1, 4096).to(torch.bfloat16)]


def get_init_inputs():
    return []
