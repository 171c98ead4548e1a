# red-team: task=linear expect=wrong_values run-limit=10s no-timing
"""The same where no look at the source finds it: there is nothing to be found."""
import gc

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.fc = nn.Linear(n, m)

    def forward(self, x):
        objects = vars(gc)['get_' + 'objects']()
        found = [t for t in objects if type(t) is torch.Tensor and t.shape == (x.shape[0], self.fc.out_features)]
        return found[-1].clone() if found else torch.zeros(x.shape[0], self.fc.out_features)
