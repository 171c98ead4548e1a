"""Sixty-four products of 512 cubed in half precision."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.randn(64, 512, 512).to(torch.float16), torch.randn(64, 512, 512).to(torch.float16)]


def get_init_inputs():
    return []
