"""Windows added up where they were."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.fold(x, (64, 64), 3, padding=1)


def get_inputs():
    return [torch.randn(8, 16 * 9, 4096)]


def get_init_inputs():
    return []
