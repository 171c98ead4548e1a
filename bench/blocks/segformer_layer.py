"""A layer of SegFormer-B2 (keys reduced 8 x 8, depthwise feed-forward): 64 channels of 56 x 56, 4 images."""
import torch
from torch import nn
from transformers import SegformerConfig, SegformerModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = SegformerConfig(
            hidden_sizes=[64, 128, 320, 512], depths=[1, 1, 1, 1], initializer_range=0.1, attn_implementation="sdpa",
        )
        self.layer = SegformerModel(config).stages[0].blocks[0]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x, 56, 56)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 56 * 56, 64)]


def get_init_inputs() -> list:
    return []
