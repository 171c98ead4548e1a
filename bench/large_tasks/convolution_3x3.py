"""A convolution of a usual size: sixteen images, 64 channels of 112 x 112, 128 filters of 3 x 3."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(64, 128, 3, padding=1)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.randn(16, 64, 112, 112)]


def get_init_inputs():
    return []
