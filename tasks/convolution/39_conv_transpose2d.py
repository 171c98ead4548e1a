"""Transposed two-dimensional convolution with stride and output padding."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 3, 14, 26, 30
FILTERS = 12


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.up = nn.ConvTranspose2d(
            channels, filters, 3, stride=2, padding=1, output_padding=1, bias=False
        )

    def forward(self, x):
        return self.up(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS, FILTERS]
