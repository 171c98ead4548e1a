"""A lower triangular matrix times another."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a) @ b


def get_inputs():
    return [torch.randn(512, 512), torch.randn(512, 256)]


def get_init_inputs():
    return []
