"""Leaky rectifier with the slope given to the constructor."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 1300, 1100
NEGATIVE_SLOPE = 0.15


class Model(nn.Module):
    def __init__(self, negative_slope):
        super().__init__()
        self.negative_slope = negative_slope

    def forward(self, x):
        return nn.functional.leaky_relu(x, self.negative_slope)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS)]


def get_init_inputs():
    return [NEGATIVE_SLOPE]
