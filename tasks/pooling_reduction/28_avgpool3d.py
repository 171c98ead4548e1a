"""Average over volume windows, padding not counted."""
import torch
import torch.nn as nn

BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH = 3, 10, 22, 30, 34


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool3d(3, stride=2, padding=1, count_include_pad=False)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    shift = torch.randn(BATCH, CHANNELS, 1, 1, 1)
    return [torch.randn(BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH) + shift]


def get_init_inputs():
    return []
