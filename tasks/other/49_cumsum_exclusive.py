"""Running sum of what comes before each element of a row."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 700, 1200


class Model(nn.Module):
    def forward(self, x):
        before = torch.cumsum(x[:, :-1], dim=1)
        return torch.cat([torch.zeros_like(x[:, :1]), before], dim=1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return []
