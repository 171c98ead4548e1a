"""Products of few rows and many columns: b is packed where it is used. Depths of one block and of several, rows and
columns that fill no tile, b in either order, and a with rows that are not next to each other."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = nn.Linear(1500, 651)
        self.shallow = nn.Linear(651, 1200, bias=False)
        self.other = nn.Parameter(torch.randn(651, 700) / 25)

    def forward(self, x, turned):
        y = F.gelu(self.deep(x))
        return self.shallow(y), torch.relu(y.flatten(0, 1) @ self.other) + 1, turned.transpose(0, 1) @ self.other


def get_inputs():
    return [torch.randn(2, 35, 1500), torch.randn(651, 41)]


def get_init_inputs():
    return []
