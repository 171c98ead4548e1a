"""Grouped convolution with stride and dilation."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 4, 32, 66, 62
FILTERS, GROUPS, STRIDE, DILATION, PADDING = 24, 4, 2, 2, 2


class Model(nn.Module):
    def __init__(self, channels, filters, groups, stride, dilation, padding):
        super().__init__()
        self.conv = nn.Conv2d(
            channels, filters, 3,
            stride=stride, padding=padding, dilation=dilation, groups=groups, bias=False,
        )

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS, GROUPS, STRIDE, DILATION, PADDING]
