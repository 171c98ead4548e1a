"""A shifted layer of SwinV2-T (cosine attention): 192 channels of 28 x 28, windows of 7 x 7, 4 images."""
import torch
from torch import nn
from transformers import Swinv2Config, Swinv2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = Swinv2Config(depths=[1, 2], num_heads=[3, 6], initializer_range=0.1)
        self.layer = Swinv2Model(config).encoder.layers[1].blocks[1]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x, (28, 28))[0]


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 28 * 28, 192)]


def get_init_inputs() -> list:
    return []
