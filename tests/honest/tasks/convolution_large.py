"""A 3x3 convolution that takes Torch some hundred milliseconds on two processors, as layers of real networks do."""
import torch
import torch.nn as nn

BATCH, CHANNELS, FILTERS, SIDE = 16, 64, 128, 112


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(CHANNELS, FILTERS, 3, padding=1)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return []
