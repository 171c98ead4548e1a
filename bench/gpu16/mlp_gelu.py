"""The feed-forward part of a transformer's block."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(1024, 4096).to(torch.bfloat16)
        self.down = nn.Linear(4096, 1024).to(torch.bfloat16)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


def get_inputs():
    return [torch.randn(8192, 1024).to(torch.bfloat16)]


def get_init_inputs():
    return []
