"""A circular convolution of each row with seven taps."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, taps):
        return sum(taps[k] * torch.roll(x, -k, dims=1) for k in range(7))


def get_inputs():
    return [torch.randn(64, 4096), torch.randn(7)]


def get_init_inputs():
    return []
