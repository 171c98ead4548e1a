import torch
import torch.nn as nn


class Model(nn.Module):
    """y = relu(W x + b)."""

    def __init__(self, n: int, m: int):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return torch.relu(self.fc(x))


def get_inputs():
    return [torch.randn(32, 48)]


def get_init_inputs():
    return [48, 24]
