# red-team: task=linear expect=passed run-limit=10s
"""Honest: plain torch, the same module."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return torch.relu_(torch.addmm(self.fc.bias, x, self.fc.weight.t()))
