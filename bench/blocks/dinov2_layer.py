"""A layer of DINOv2 with the gated feed-forward: 768 wide, 257 tokens (224 x 224 in patches of 14), 2 images."""
import torch
from torch import nn
from transformers import Dinov2Config, Dinov2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = Dinov2Config(
            num_hidden_layers=1, image_size=224, patch_size=14, use_swiglu_ffn=True, layerscale_value=0.5,
            initializer_range=0.04, attn_implementation="sdpa",
        )
        self.layer = Dinov2Model(config).encoder.layer[0]
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 257, 768)]


def get_init_inputs() -> list:
    return []
