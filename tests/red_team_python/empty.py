# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""Whatever the allocator has left."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return torch.empty(x.shape[0], self.fc.out_features)
