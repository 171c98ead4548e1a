"""Little data and much arithmetic: a timing attack has room above the hardware's bound."""
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        y = torch.sin(x)
        for k in range(2, 11):
            y = y + torch.sin(k * x) / k
        return y


def get_inputs():
    return [torch.randn(64, 128)]


def get_init_inputs():
    return []
