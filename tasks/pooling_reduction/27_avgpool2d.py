"""Average over image windows, padding counted."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 8, 18, 90, 94
KERNEL, STRIDE, PADDING = 4, 3, 1


class Model(nn.Module):
    def __init__(self, kernel, stride, padding):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel, stride=stride, padding=padding)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH) + torch.randn(BATCH, CHANNELS, 1, 1)]


def get_init_inputs():
    return [KERNEL, STRIDE, PADDING]
