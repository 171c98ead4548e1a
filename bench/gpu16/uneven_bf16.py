"""A product whose sizes nothing divides."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(2047, 4095).to(torch.bfloat16), torch.randn(4095, 1535).to(torch.bfloat16)]


def get_init_inputs():
    return []
