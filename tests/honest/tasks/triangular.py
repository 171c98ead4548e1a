"""A triangular matrix times another."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a) @ b


def get_inputs():
    return [torch.tril(torch.randn(128, 128)), torch.randn(128, 96)]


def get_init_inputs():
    return []
