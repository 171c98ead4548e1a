"""A power spectrogram in decibels."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, power):
        return 10 * torch.log10(power.clamp(min=1e-10))


def get_inputs():
    return [torch.rand(400, 257)]


def get_init_inputs():
    return []
