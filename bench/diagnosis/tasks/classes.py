"""How often each of 8 classes occurs."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return (x[:, None] == torch.arange(8, device=x.device)).sum(dim=0)


def get_inputs():
    return [torch.randint(0, 8, (1 << 18,), dtype=torch.int32)]


def get_init_inputs():
    return []
