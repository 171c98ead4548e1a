"""Position of the largest entry of each row, as 64-bit integers."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 1500, 700


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=-1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
