"""A decoder layer of DETR: 512 wide, 300 queries on a map of 28 x 28, 2 images."""
import torch
from torch import nn
from transformers import DetrConfig, DetrModel, ResNetConfig


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        backbone = ResNetConfig(hidden_sizes=[64, 128], depths=[1, 1], out_features=["stage2"])
        config = DetrConfig(backbone_config=backbone, d_model=512, encoder_layers=1, decoder_layers=1)
        self.layer = DetrModel(config).decoder.layers[0]
        self.eval()

    def forward(
        self, x: torch.Tensor, queries: torch.Tensor, encoded: torch.Tensor, places: torch.Tensor,
    ) -> torch.Tensor:
        return self.layer(
            x, object_queries_position_embeddings=queries, encoder_hidden_states=encoded,
            spatial_position_embeddings=places,
        )


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, length, 512) for length in (300, 300, 784, 784)]


def get_init_inputs() -> list:
    return []
