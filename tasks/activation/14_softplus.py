"""Softplus with a steepness and a linear tail given to the constructor."""
import torch
import torch.nn as nn

ROWS, COLUMNS = 900, 1000
BETA, THRESHOLD = 1.5, 12.0


class Model(nn.Module):
    def __init__(self, beta, threshold):
        super().__init__()
        self.softplus = nn.Softplus(beta=beta, threshold=threshold)

    def forward(self, x):
        return self.softplus(x)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS) * 4]


def get_init_inputs():
    return [BETA, THRESHOLD]
