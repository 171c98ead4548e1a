"""Images read between their pixels, continued past their border, and written into in parts."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, image, line, grid):
        cut = image.clone()
        cut[:, :, 1:6:2, 3:] = line[0, 0, 0]
        cut[:, 1, 2] = 0.5
        return (
            F.interpolate(image, scale_factor=2) * 2,
            F.interpolate(image, size=(5, 13)),
            F.interpolate(image, size=(11, 6), mode="bilinear", align_corners=True),
            F.interpolate(image, scale_factor=1.7, mode="bilinear"),
            F.interpolate(image, size=(9, 9), mode="bicubic"),
            F.interpolate(line, size=17, mode="linear"),
            F.interpolate(line, scale_factor=0.6, mode="nearest"),
            F.grid_sample(image, grid, align_corners=False),
            F.grid_sample(image, grid, mode="nearest", padding_mode="border", align_corners=True),
            F.grid_sample(image, grid, mode="bilinear", padding_mode="reflection", align_corners=True),
            F.grid_sample(image, grid, mode="nearest", padding_mode="reflection", align_corners=False),
            F.grid_sample(image, grid, mode="bicubic", padding_mode="zeros", align_corners=False),
            F.grid_sample(image, grid, mode="bicubic", padding_mode="reflection", align_corners=False),
            F.grid_sample(image, grid, mode="bicubic", padding_mode="border", align_corners=True),
            F.pad(image, (2, 1, 3, 0), mode="reflect").relu(),
            F.pad(line, (4, 2), mode="replicate"),
            cut, torch.as_strided(line, (3, 5), (2, 3), 1),
        )


def get_inputs():
    return [torch.randn(2, 3, 7, 8), torch.randn(2, 3, 10), torch.rand(2, 5, 6, 2) * 2.6 - 1.3]


def get_init_inputs():
    return []
