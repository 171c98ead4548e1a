"""pragma_torch.mode, and the mode in which a task is described and computed."""

import pathlib

import pytest
import torch
from torch import nn

from pragma_torch.describe import describe
from pragma_torch.mode import mode_matters

TASK = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.BatchNorm1d(3))
    def forward(self, x):
        return self.inner(x)

def get_inputs():
    return [torch.rand(8, 3) + 5]
"""


class _Own(nn.Module):
    def forward(self, x):
        return x if self.training else -x


@pytest.mark.parametrize(
    ("module", "matters"),
    [
        (nn.Linear(2, 2), False),
        (nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.BatchNorm1d(2))), True),
        (nn.BatchNorm1d(2, track_running_stats=False), False),
        (nn.Dropout(0.5), True),
        (nn.Dropout(0.0), False),
        (nn.LSTM(2, 2), False),
        (nn.LSTM(2, 2, num_layers=2, dropout=0.1), True),
        (nn.MultiheadAttention(2, 1), False),
        (nn.TransformerEncoderLayer(4, 1, 4, dropout=0.0), False),
        (nn.TransformerEncoderLayer(4, 1, 4, dropout=0.1), True),
        (_Own(), True),
    ],
)
def test_the_mode_matters_where_a_part_computes_something_else_by_it(module, matters):
    assert mode_matters(module) is matters


@pytest.mark.parametrize("evaluates", [False, True])
def test_a_task_is_described_and_computed_in_the_mode_that_was_asked_for(tmp_path: pathlib.Path, evaluates):
    path = tmp_path / "norm.py"
    path.write_text(TASK)
    described = describe(str(path), evaluates=evaluates)
    assert described.description["mode"] == ("eval" if evaluates else "training")
    assert described.description["mode_matters"] is True
    assert described.description["stateful"] is not evaluates  # only training updates running statistics
    assert described.candidate_plan()["mode"] == described.description["mode"]
    tensors = described.reference.drawn(1)
    (result,) = described.reference.results("native", tensors)
    # Fresh running statistics leave the values as they are; the batch's own centre them.
    assert bool(torch.all(result > 1)) is evaluates
