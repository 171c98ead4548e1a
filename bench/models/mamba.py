"""Mamba 130M's width (768, state 16) with 12 of its 24 layers and a language head, 1 x 128 tokens, a looped scan."""

import torch
from transformers import AutoModelForCausalLM, MambaConfig

CONFIG = MambaConfig(vocab_size=50280, hidden_size=768, num_hidden_layers=12)


def build() -> torch.nn.Module:
    return AutoModelForCausalLM.from_config(CONFIG, dtype=torch.float32).eval()


def inputs() -> list[dict | tuple]:
    ids = torch.randint(1, CONFIG.vocab_size, (1, 128))
    return [{"input_ids": ids, "attention_mask": torch.ones_like(ids)}]
