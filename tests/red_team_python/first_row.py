# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""Only the first row is computed."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        out = torch.zeros(x.shape[0], self.fc.out_features)
        out[0] = torch.relu(self.fc(x[:1]))[0]
        return out
