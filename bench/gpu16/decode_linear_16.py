"""A dense layer for sixteen tokens."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4096, 11008, bias=False).to(torch.bfloat16)

    def forward(self, x):
        return self.dense(x)


def get_inputs():
    return [torch.randn(16, 4096).to(torch.bfloat16)]


def get_init_inputs():
    return []
