"""A layer of DeBERTa v3 (disentangled attention): 768 wide, 256 tokens, 256 distance buckets, one row."""
import torch
from torch import nn
from transformers import DebertaV2Config, DebertaV2Model


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = DebertaV2Config(
            vocab_size=64, hidden_size=768, intermediate_size=3072, num_hidden_layers=1, num_attention_heads=12,
            relative_attention=True, position_buckets=256, pos_att_type=["p2c", "c2p"], share_att_key=True,
        )
        self.layer = DebertaV2Model(config).encoder.layer[0]
        self.eval()

    def forward(self, x: torch.Tensor, mask: torch.Tensor, distances: torch.Tensor) -> torch.Tensor:
        return self.layer(x, mask, rel_embeddings=distances)[0]


def get_inputs() -> list[torch.Tensor]:
    mask = torch.ones(1, 1, 256, 256, dtype=torch.bool)
    mask[..., 240:] = False
    return [torch.randn(1, 256, 768), mask, torch.randn(512, 768)]


def get_init_inputs() -> list:
    return []
