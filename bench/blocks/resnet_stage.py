"""The second stage of ResNet-50, 4 bottlenecks: 256 channels of 56 x 56 to 512 of 28 x 28, 2 images."""
import torch
from torch import nn
from transformers import ResNetConfig, ResNetModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = ResNetConfig(hidden_sizes=[256, 512], depths=[1, 4])
        self.stage = ResNetModel(config).encoder.stages[1]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.stage(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 256, 56, 56).relu()]


def get_init_inputs() -> list:
    return []
