"""The gated feed-forward part of a Llama."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(2048, 5632, bias=False).to(torch.bfloat16)
        self.up = nn.Linear(2048, 5632, bias=False).to(torch.bfloat16)
        self.down = nn.Linear(5632, 2048, bias=False).to(torch.bfloat16)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


def get_inputs():
    return [torch.randn(4096, 2048).to(torch.bfloat16)]


def get_init_inputs():
    return []
