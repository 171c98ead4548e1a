"""A layer of ModernBERT (local attention of 128): 768 wide, 512 tokens, one row."""
import torch
from torch import nn
from transformers import ModernBertConfig, ModernBertModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = ModernBertConfig(
            vocab_size=64, pad_token_id=0, num_hidden_layers=2, layer_types=["full_attention", "sliding_attention"],
            initializer_range=0.04, attn_implementation="sdpa",
        )
        model = ModernBertModel(config)
        self.layer = model.layers[1]
        self.rotary = model.rotary_emb
        self.eval()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(x.shape[1], device=x.device)[None]
        rotary = self.rotary(x, positions, "sliding_attention")
        return self.layer(x, attention_mask=mask, position_embeddings=rotary)


def get_inputs() -> list[torch.Tensor]:
    distance = torch.arange(512)[:, None] - torch.arange(512)
    return [torch.randn(1, 512, 768), (distance.abs() <= 64)[None, None]]


def get_init_inputs() -> list:
    return []
