"""RMS norm and a dense layer behind it."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2048).to(torch.bfloat16))
        self.dense = nn.Linear(2048, 2048, bias=False).to(torch.bfloat16)

    def forward(self, x):
        y = x.float()
        y = (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
        return self.dense(self.weight * y)


def get_inputs():
    return [torch.randn(8192, 2048).to(torch.bfloat16)]


def get_init_inputs():
    return []
