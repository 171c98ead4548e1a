# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""Says that it passed."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        print('PASS {"status": "passed"}', flush=True)
        return torch.zeros(x.shape[0], self.fc.out_features)
