"""Two-dimensional convolution with padding and bias."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 4, 16, 54, 58
FILTERS = 30


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)
        nn.init.normal_(self.conv.bias)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS]
