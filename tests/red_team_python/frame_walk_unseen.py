# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""The same where no look at the source finds it: there is nothing to be found."""
import sys

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        frame = getattr(sys, '_get' + 'frame')(1)
        while frame is not None:
            for value in getattr(frame, 'f_' + 'locals').values():
                if type(value) is torch.Tensor and value.shape == (x.shape[0], self.fc.out_features):
                    return value.clone()
            frame = getattr(frame, 'f_' + 'back')
        return torch.zeros(x.shape[0], self.fc.out_features)
