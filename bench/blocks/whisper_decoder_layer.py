"""A decoder layer of Whisper base: 512 wide, 256 tokens on 1500 frames of the encoder, one row."""
import torch
from torch import nn
from transformers import WhisperConfig, WhisperModel


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        config = WhisperConfig(
            vocab_size=64, pad_token_id=0, d_model=512, encoder_layers=1, decoder_layers=1, encoder_attention_heads=8,
            decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, init_std=0.04,
            attn_implementation="sdpa",
        )
        self.layer = WhisperModel(config).decoder.layers[0]
        self.eval()

    def forward(self, x: torch.Tensor, encoded: torch.Tensor) -> torch.Tensor:
        return self.layer(x, encoder_hidden_states=encoded, use_cache=False)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(1, 256, 512), torch.randn(1, 1500, 512)]


def get_init_inputs() -> list:
    return []
