"""One-dimensional convolution with bias."""
import torch
import torch.nn as nn

BATCH, CHANNELS, LENGTH = 8, 24, 1000
FILTERS, KERNEL, PADDING = 40, 5, 2


class Model(nn.Module):
    def __init__(self, channels, filters, kernel, padding):
        super().__init__()
        self.conv = nn.Conv1d(channels, filters, kernel, padding=padding)
        nn.init.normal_(self.conv.bias)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS, KERNEL, PADDING]
