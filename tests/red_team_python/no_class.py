# red-team: task=linear expect=rejected_source run-limit=10s no-timing
"""No ModelNew at all."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return x
