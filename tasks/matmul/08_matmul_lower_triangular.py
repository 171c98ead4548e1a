"""Lower triangle of a matrix times a rectangular matrix."""
import torch
import torch.nn as nn

SIZE, COLUMNS = 420, 260


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a) @ b


def get_inputs():
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE, COLUMNS)]


def get_init_inputs():
    return []
