"""What batteries write into the rows of a tensor. A row lies along the last dimension."""

from __future__ import annotations

import math

import torch

from pragma_torch.draws import Draws

_MASKED = 0.25  # share of the elements
_LIMIT_ROWS = 0.25  # share of the rows, for each of the two limits
_DISTANCES = (64, 32, 16, 8, 4)  # between peaks
_PEAK = 20.0  # relative to the nominal size: above all other drawn values
_TURNS = 64  # number of different rows of permuted_rows
_AROUND = 0.1  # relative to a constant: spread of the values around it
_BESIDE = 1e-3  # relative distance to a constant that the type cannot represent
# The ways in which a row shows a constant. The first three differ in where its other elements lie.
_AROUND_IT, _BELOW, _ABOVE, _AMONG, _NORM = range(5)
_WAYS = 5


def place_nan(draws: Draws, tensor: torch.Tensor) -> None:
    """Places one NaN in each row. In the first row it is the last element."""
    row = tensor.shape[-1] if tensor.dim() else 1
    table = tensor.view(-1, row)
    columns = draws.columns(torch.Size([table.shape[0], 1]), row)
    columns[0] = row - 1
    table.scatter_(1, columns, math.nan)


def place_outliers(draws: Draws, tensor: torch.Tensor, size: float, positive: bool) -> None:
    table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
    rows = torch.Size([table.shape[0], 1])
    signs = 1.0 if positive else draws.signs(rows)
    values = size * signs * (1 + draws.uniform(rows))
    table.scatter_(1, draws.columns(rows, table.shape[1]), values.to(tensor.dtype))


def add_peaks(draws: Draws, tensor: torch.Tensor, size: float) -> None:
    """Rows cycle through the distances, as far as they fit."""
    row = tensor.shape[-1] if tensor.dim() else 1
    table = tensor.view(-1, row)
    for turn, distance in enumerate(d for d in _DISTANCES if d == _DISTANCES[0] or 2 * d <= row):
        first = draws.below(min(distance, row))
        peaks = table[turn :: len(_DISTANCES), first::distance]
        peaks.add_(_PEAK * size)


def permute_rows(tensor: torch.Tensor) -> None:
    """Makes each row a copy of the first one with its interior rotated. The first and last element and every sum
    over a row are the same."""
    row = tensor.shape[-1] if tensor.dim() else 1
    table = tensor.view(-1, row)
    first, inside = table[0].clone(), table[0, 1:-1].clone()
    for turn in range(min(table.shape[0], _TURNS)):
        rows = table[turn::_TURNS]
        rows.copy_(first)
        if inside.numel() > 0:
            rows[:, 1:-1] = inside.roll(turn * max(inside.numel() // _TURNS, 1))


def place_constants(draws: Draws, tensor: torch.Tensor, size: float, constants: list[float], part: int) -> None:
    """A constant for each row, in one of five ways: every other element is the constant, the rest lies
    around it, below it or above it; every fourth is, among usual values; the row's norm is about it.
    All constants in all ways come first, then their negatives; parts share them out."""
    row = tensor.shape[-1] if tensor.dim() else 1
    table = tensor.view(-1, row)
    rows = torch.Size([table.shape[0], 1])
    order = draws.order(table.shape[0]).view(rows)
    place = (part * table.shape[0] + order) % (2 * len(constants) * _WAYS)
    kind = place % _WAYS
    signed = torch.tensor(constants, dtype=torch.float64, device=draws.device)
    wanted = torch.cat([signed, -signed])[place // _WAYS]
    held = wanted.to(tensor.dtype)
    beside = (wanted * (1 + _BESIDE * draws.signs(rows))).to(tensor.dtype)
    held = torch.where(held.double() == wanted, held, beside)
    norm = wanted.abs() / math.sqrt(row) * (0.3 + 3 * draws.uniform(rows))
    near = kind <= _ABOVE
    spread = torch.where(near, _AROUND * wanted.abs(), torch.where(kind == _AMONG, size, norm))
    table.mul_((spread / size).to(tensor.dtype))
    table.copy_(torch.where(kind == _BELOW, -table.abs(), torch.where(kind == _ABOVE, table.abs(), table)))
    table.add_(torch.where(near, held, 0))
    for chosen, distance in ((near, 2), (kind == _AMONG, 4)):
        some = table[:, draws.below(min(distance, row)) :: distance]
        some.copy_(torch.where(chosen, held, some))


def place_limits(draws: Draws, tensor: torch.Tensor, whole_rows: bool) -> None:
    """Uses the least and the greatest finite number, either for a whole row (in half of the rows) or once each in
    every row."""
    limits = torch.finfo(tensor.dtype)
    table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
    rows = torch.Size([table.shape[0], 1])
    if not whole_rows:
        table.scatter_(1, draws.columns(rows, table.shape[1]), limits.max)
        table.scatter_(1, draws.columns(rows, table.shape[1]), limits.min)
        return
    chance = draws.uniform(rows)
    table.masked_fill_(chance < _LIMIT_ROWS, limits.max)
    table.masked_fill_(chance > 1 - _LIMIT_ROWS, limits.min)


def shift_rows(draws: Draws, tensor: torch.Tensor, size: float) -> None:
    table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
    offsets = size * draws.normal(torch.Size([table.shape[0], 1]))
    table.add_(offsets.to(tensor.dtype))


def mask(draws: Draws, tensor: torch.Tensor, whole_rows: bool) -> None:
    """Sets elements to -inf, but not all of a row. `whole_rows`: some rows are masked as a whole as well."""
    table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
    rows = torch.Size([table.shape[0], 1])
    columns = draws.columns(rows, table.shape[1])
    kept = table.gather(1, columns)
    share = draws.uniform(torch.Size([min(tensor.numel(), draws.block)])) < _MASKED
    blocks = tensor.view(-1).split(draws.block)
    places = (draws.uniform(torch.Size([len(blocks)])) * share.numel()).long().tolist()
    for block, at in zip(blocks, places, strict=True):
        head = min(share.numel() - at, block.numel())
        block[:head].masked_fill_(share[at : at + head], -math.inf)
        block[head:].masked_fill_(share[: block.numel() - head], -math.inf)
    table.scatter_(1, columns, kept)
    if whole_rows:
        whole = draws.uniform(rows) < _MASKED
        whole[draws.below(rows[0])] = rows[0] > 1
        whole[draws.below(rows[0])] = False
        table.masked_fill_(whole, -math.inf)


def sprinkle(draws: Draws, tensor: torch.Tensor, value: float, count: int) -> None:
    for _ in range(count):
        tensor.view(-1)[draws.below(tensor.numel())] = value


def keep_few(draws: Draws, tensor: torch.Tensor, one: bool) -> None:
    row = tensor.shape[-1] if tensor.dim() else 1
    column = torch.arange(row, device=draws.device)
    if one:
        hot = draws.columns(torch.Size([tensor.numel() // row, 1]), row)
        kept = (column == hot).view(tensor.shape)
    else:
        kept = (column + 1 == row).expand(tensor.shape or (1,)).view(tensor.shape)
        if tensor.dim() >= 2:
            rows = tensor.shape[-2]
            last = (torch.arange(rows, device=draws.device) + 1 == rows).unsqueeze(-1)
            kept = kept | last.expand(tensor.shape)
    tensor.masked_fill_(~kept, 0)
