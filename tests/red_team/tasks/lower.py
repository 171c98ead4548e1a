"""A strictly lower triangular matrix times a vector: the first row is always zero."""
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, m, v):
        return torch.tril(m, -1) @ v


def get_inputs():
    return [torch.tril(torch.randn(128, 128), -1), torch.randn(128)]


def get_init_inputs():
    return []
