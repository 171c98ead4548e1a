"""Position of the largest entry of each row."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=1)


def get_inputs():
    return [torch.randn(128, 300)]


def get_init_inputs():
    return []
