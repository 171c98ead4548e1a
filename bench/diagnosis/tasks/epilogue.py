"""Scale, bias and a clamp, as they follow a linear layer."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, scale, bias):
        return torch.clamp(x * scale + bias, -1.0, 6.0)


def get_inputs():
    return [torch.randn(512, 1024), torch.randn(1024), torch.randn(1024)]


def get_init_inputs():
    return []
