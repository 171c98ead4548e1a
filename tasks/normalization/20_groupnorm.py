"""Group normalisation of images with affine parameters per channel."""
import torch
import torch.nn as nn

BATCH, CHANNELS, HEIGHT, WIDTH = 6, 42, 36, 34
GROUPS = 6


class Model(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    scale = 0.5 + 2 * torch.rand(BATCH, CHANNELS, 1, 1)
    shift = torch.randn(BATCH, CHANNELS, 1, 1)
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH) * scale + shift]


def get_init_inputs():
    return [GROUPS, CHANNELS]
