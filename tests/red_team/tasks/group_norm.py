"""Group norm."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(8, 32)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(4, 32, 8, 12)]


def get_init_inputs():
    return []
