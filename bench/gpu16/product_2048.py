"""A square product of size 2048 in bfloat16."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(2048, 2048).to(torch.bfloat16), torch.randn(2048, 2048).to(torch.bfloat16)]


def get_init_inputs():
    return []
