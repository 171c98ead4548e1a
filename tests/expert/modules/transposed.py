"""Transposed convolutions in one to three dimensions, with everything that they may have."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.ConvTranspose1d(8, 6, 5, stride=3, padding=2, output_padding=1, dilation=2)
        self.plane = nn.ConvTranspose2d(12, 9, 3, stride=2, padding=1, output_padding=1)
        self.groups = nn.ConvTranspose2d(12, 8, (3, 5), stride=(2, 1), padding=(1, 3), groups=4)
        self.dilated = nn.ConvTranspose2d(12, 5, 3, padding=1, dilation=(2, 3), bias=False)
        self.volume = nn.ConvTranspose3d(4, 6, 4, stride=(1, 2, 3), padding=1)

    def forward(self, row, image, box):
        return (
            self.line(row),
            F.relu(self.plane(image)),
            self.groups(image),
            self.dilated(image),
            self.volume(box).clamp(-0.5, 0.7),
        )


def get_inputs():
    return [torch.randn(2, 8, 61), torch.randn(2, 12, 13, 29), torch.randn(1, 4, 6, 7, 10)]


def get_init_inputs():
    return []
