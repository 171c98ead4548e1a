"""Medians of five neighbours in each row."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x.unfold(1, 5, 1).median(-1).values


def get_inputs():
    return [torch.randn(512, 1028)]


def get_init_inputs():
    return []
