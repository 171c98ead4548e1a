"""Running product along rows, of factors near one in size and of both signs."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 7000, 70


class Model(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, dim=1)


def get_inputs():
    size = 1 + 0.1 * torch.rand(ROWS, COLUMNS) - 0.05
    return [torch.where(torch.randn(ROWS, COLUMNS) < 0, -size, size)]


def get_init_inputs():
    return []
