# red-team: task=linear expect=wrong_shape run-limit=10s no-timing
"""Another dtype, that a comparison would promote."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        return torch.relu(self.fc(x)).double()
