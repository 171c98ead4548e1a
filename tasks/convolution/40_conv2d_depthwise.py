"""Depthwise convolution: each channel with its own window."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 4, 50, 56, 60
KERNEL = 5


class Model(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel, padding=kernel // 2, groups=channels)
        nn.init.normal_(self.conv.bias)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, KERNEL]
