"""Matrix product whose second factor is stored transposed: dot products of rows."""
import torch
import torch.nn as nn

ROWS, COLUMNS, DEPTH = 400, 350, 256


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b.transpose(0, 1))


def get_inputs():
    return [torch.randn(ROWS, DEPTH), torch.randn(COLUMNS, DEPTH)]


def get_init_inputs():
    return []
