"""A sliding-window decoder layer of Gemma 3: 640 wide, 512 tokens, a window of 128, one row."""
import torch
from torch import nn
from transformers import Gemma3TextConfig, Gemma3TextModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = Gemma3TextConfig(
            vocab_size=64, hidden_size=640, intermediate_size=2048, num_hidden_layers=1, num_attention_heads=4,
            num_key_value_heads=1, head_dim=256, sliding_window=128, layer_types=["sliding_attention"],
            attn_implementation="sdpa",
        )
        model = Gemma3TextModel(config)
        self.layer = model.layers[0]
        self.rotary = model.rotary_emb
        self.eval()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(x.shape[1], device=x.device)[None]
        rotary = self.rotary(x, positions, "sliding_attention")
        return self.layer(x, position_embeddings=rotary, attention_mask=mask)


def get_inputs() -> list[torch.Tensor]:
    back = torch.arange(512)[:, None] - torch.arange(512)
    return [torch.randn(1, 512, 640), ((back >= 0) & (back < 128))[None, None]]


def get_init_inputs() -> list:
    return []
