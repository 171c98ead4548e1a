"""The residual blocks of SpeechT5's HiFi-GAN (kernels of 3, 7 and 11): 128 channels, 2048 samples."""
import torch
from torch import nn
from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = SpeechT5HifiGan(SpeechT5HifiGanConfig(initializer_range=0.05)).resblocks[3:6]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.blocks[0](x) + self.blocks[1](x) + self.blocks[2](x)) / 3


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 128, 2048)]


def get_init_inputs() -> list:
    return []
