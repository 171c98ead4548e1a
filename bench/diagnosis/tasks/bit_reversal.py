"""The order of a fast Fourier transform's input."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.view([2] * 22).permute(*range(21, -1, -1)).reshape(-1)


def get_inputs():
    return [torch.randn(1 << 22)]


def get_init_inputs():
    return []
