"""The first position of each row that holds a value above a threshold; 0 where there is none."""
import torch
import torch.nn as nn

THRESHOLD = 3.5


class Model(nn.Module):
    def forward(self, x):
        return (x > THRESHOLD).to(torch.int32).argmax(dim=1)


def get_inputs():
    return [torch.randn(256, 4096)]


def get_init_inputs():
    return []
