"""Which of 63 intervals, unequal ones, each element falls into."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        k = torch.arange(-31, 32, device=x.device, dtype=x.dtype)
        return (x[..., None] > k * k.abs() / 256).sum(dim=-1)


def get_inputs():
    return [torch.randn(128, 1024)]


def get_init_inputs():
    return []
