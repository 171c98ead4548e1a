# red-team: task=linear expect=crashed run-limit=10s no-timing
"""Makes the task easier: inputs are read-only."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        x.zero_()
        return torch.relu(self.fc.bias).expand(x.shape[0], -1).clone()
