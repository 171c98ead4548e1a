"""Division by the root mean square of each row, then a learnt gain."""
import torch
import torch.nn as nn

ROWS, WIDTH = 1900, 640
EPSILON = 1e-5


class Model(nn.Module):
    def __init__(self, width, epsilon):
        super().__init__()
        self.epsilon = epsilon
        self.gain = nn.Parameter(torch.randn(width))

    def forward(self, x):
        mean_square = x.pow(2).mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(mean_square + self.epsilon) * self.gain


def get_inputs():
    return [torch.randn(ROWS, WIDTH) * (0.3 + 3 * torch.rand(ROWS, 1))]


def get_init_inputs():
    return [WIDTH, EPSILON]
