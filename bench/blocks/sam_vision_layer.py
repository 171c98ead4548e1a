"""A layer of SAM's image encoder: 768 wide, a map of 14 x 14 in windows of 8 x 8, 2 images."""
import torch
from torch import nn
from transformers import SamVisionConfig, SamVisionModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = SamVisionConfig(
            num_hidden_layers=1, image_size=224, window_size=8, global_attn_indexes=[], initializer_range=0.02,
            attn_implementation="sdpa",
        )
        self.layer = SamVisionModel(config).vision_encoder.layers[0]
        nn.init.normal_(self.layer.attn.rel_pos_h, std=0.1)  # these two start at zero
        nn.init.normal_(self.layer.attn.rel_pos_w, std=0.1)
        self.eval()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 14, 14, 768)]


def get_init_inputs() -> list:
    return []
