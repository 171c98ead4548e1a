# red-team: task=linear expect=passed note=falls_back run-limit=10s no-timing
"""Legal, and noted: what ran is not known."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        try:
            return torch.ops.mine.linear_relu(x, self.fc.weight, self.fc.bias)
        except Exception:
            return torch.relu(self.fc(x))
