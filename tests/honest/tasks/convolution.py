"""A 3x3 convolution with padding."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(8, 12, 3, padding=1)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(2, 8, 32, 32)]


def get_init_inputs():
    return []
