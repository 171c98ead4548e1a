"""How often each of 64 classes occurs."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.zeros(64, dtype=torch.int64, device=x.device).scatter_add(0, x, torch.ones_like(x))


def get_inputs():
    return [torch.randint(0, 64, (1 << 17,))]


def get_init_inputs():
    return []
