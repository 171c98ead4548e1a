"""A tall matrix times a narrow one."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(32768, 1024).to(torch.bfloat16), torch.randn(1024, 64).to(torch.bfloat16)]


def get_init_inputs():
    return []
