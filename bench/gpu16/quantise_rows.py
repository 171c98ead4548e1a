"""Rows quantised to bytes by their largest size."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        largest = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-6)
        q = torch.clamp(torch.round(x.float() * (127 / largest)), -127, 127)
        return q.to(torch.int8), largest / 127


def get_inputs():
    return [torch.randn(8192, 4096).to(torch.bfloat16)]


def get_init_inputs():
    return []
