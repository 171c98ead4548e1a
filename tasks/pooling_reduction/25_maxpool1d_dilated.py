"""Maximum over a dilated one-dimensional window."""
import torch
import torch.nn as nn

BATCH, CHANNELS, LENGTH = 16, 30, 1500
KERNEL, STRIDE, PADDING, DILATION = 5, 2, 2, 2


class Model(nn.Module):
    def __init__(self, kernel, stride, padding, dilation):
        super().__init__()
        self.pool = nn.MaxPool1d(kernel, stride=stride, padding=padding, dilation=dilation)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, LENGTH)]


def get_init_inputs():
    return [KERNEL, STRIDE, PADDING, DILATION]
