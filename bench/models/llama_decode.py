"""Llama decode: one token of each of 4 rows on a cache of 256, with SmolLM2-360M's sizes (32 layers of 960)."""

import copy

import torch
from transformers import AutoModelForCausalLM, DynamicCache, LlamaConfig
from transformers.modeling_outputs import CausalLMOutputWithPast

ROWS, CACHED = 4, 256
CONFIG = LlamaConfig(
    vocab_size=49152, hidden_size=960, intermediate_size=2560, num_hidden_layers=32, num_attention_heads=15,
    num_key_value_heads=5, max_position_embeddings=8192, rms_norm_eps=1e-5, tie_word_embeddings=True,
    bos_token_id=1, eos_token_id=2, rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
)  # fmt: skip


class Decode(torch.nn.Module):
    """One step on a shallow copy of the cache: the caller's does not grow, so the call can be repeated."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, cache: DynamicCache
    ) -> CausalLMOutputWithPast:
        # A layer of the cache replaces its tensors when it grows; it does not write into them.
        own = copy.copy(cache)
        own.layers = [copy.copy(layer) for layer in cache.layers]
        return self.model(input_ids=input_ids, attention_mask=attention_mask, cache=own)


def build() -> torch.nn.Module:
    return Decode(AutoModelForCausalLM.from_config(CONFIG, dtype=torch.float32)).eval()


def inputs() -> list[dict | tuple]:
    shape = (ROWS, CONFIG.num_key_value_heads, CACHED, CONFIG.hidden_size // CONFIG.num_attention_heads)
    cache = DynamicCache([(torch.randn(shape), torch.randn(shape)) for _ in range(CONFIG.num_hidden_layers)])
    ids = torch.randint(3, CONFIG.vocab_size, (ROWS, 1))
    mask = torch.ones(ROWS, CACHED + 1, dtype=torch.int64)
    return [{"input_ids": ids, "attention_mask": mask, "cache": cache}]
