"""Matrix product whose first factor is stored transposed."""
import torch
import torch.nn as nn

DEPTH, ROWS, COLUMNS = 600, 300, 420


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a.t(), b)


def get_inputs():
    return [torch.randn(DEPTH, ROWS), torch.randn(DEPTH, COLUMNS)]


def get_init_inputs():
    return []
