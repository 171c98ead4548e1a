# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""Forgets the activation."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return self.fc(x)
