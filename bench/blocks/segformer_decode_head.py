"""The decode head of SegFormer-B0: maps of 56 x 56 to 7 x 7, 256 wide, 150 classes, one image."""
import torch
from torch import nn
from transformers import SegformerConfig, SegformerForSemanticSegmentation


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = SegformerConfig(depths=[1, 1, 1, 1], num_labels=150, initializer_range=0.1, attn_implementation="sdpa")
        self.head = SegformerForSemanticSegmentation(config).decode_head
        self.eval()

    def forward(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
        return self.head((a, b, c, d))


def get_inputs() -> list[torch.Tensor]:
    sizes = [(32, 56), (64, 28), (160, 14), (256, 7)]
    return [torch.randn(1, channels, side, side) for channels, side in sizes]


def get_init_inputs() -> list:
    return []
