"""Three-dimensional convolution without bias."""
import torch
import torch.nn as nn

BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH = 2, 8, 14, 26, 24
FILTERS = 12


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv3d(channels, filters, 3, bias=False)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS]
