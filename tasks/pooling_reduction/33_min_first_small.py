"""Minimum over the first dimension of a small tensor."""
import torch
import torch.nn as nn

LENGTH, ROWS, COLUMNS = 20, 28, 30


class Model(nn.Module):
    def forward(self, x):
        return torch.amin(x, dim=0)


def get_inputs():
    return [torch.randn(LENGTH, ROWS, COLUMNS) + torch.randn(1, ROWS, COLUMNS)]


def get_init_inputs():
    return []
