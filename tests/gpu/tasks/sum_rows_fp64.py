"""Sums of rows in double precision."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 300, 900


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS, dtype=torch.float64)]


def get_init_inputs():
    return []
