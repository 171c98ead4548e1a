"""Group norm in half precision."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(32, 256).half()

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(16, 256, 64, 64).to(torch.float16)]


def get_init_inputs():
    return []
