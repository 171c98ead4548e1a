"""Convolution, maximum over windows, hyperbolic tangent."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 6, 8, 50, 54
FILTERS = 18


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3)
        nn.init.normal_(self.conv.bias)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return torch.tanh(self.pool(self.conv(x)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS]
