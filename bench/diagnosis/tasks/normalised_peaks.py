"""The maximum of each column over rows that are divided by their length."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x * torch.rsqrt(x.pow(2).sum(1, keepdim=True) + 1e-6)).max(0).values


def get_inputs():
    return [torch.randn(16384, 32)]


def get_init_inputs():
    return []
