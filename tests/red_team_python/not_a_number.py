# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""NaN is neither below a tolerance nor above it."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return torch.full((x.shape[0], self.fc.out_features), float('nan'))
