"""A small product over a long depth."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(256, 32768).to(torch.bfloat16), torch.randn(32768, 256).to(torch.bfloat16)]


def get_init_inputs():
    return []
