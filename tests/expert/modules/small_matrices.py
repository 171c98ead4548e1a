"""Linear algebra on many small matrices: inverses, determinants, Cholesky factors, systems of equations."""

import torch


class Model(torch.nn.Module):
    def forward(self, a, b, row, wide):
        near = a + 6 * torch.eye(5)
        positive = near @ near.mT
        lower = torch.linalg.cholesky(positive)
        sign, logarithm = torch.linalg.slogdet(a)
        return (
            torch.linalg.inv(near),
            torch.linalg.det(a),
            sign * logarithm,
            lower,
            torch.linalg.cholesky(positive, upper=True),
            torch.linalg.solve(near, b),
            torch.linalg.solve(near, row),
            torch.linalg.solve(near, b.mT, left=False),
            torch.linalg.solve_triangular(lower, b, upper=False),
            torch.linalg.solve_triangular(near, b[0], upper=True, unitriangular=True),
            torch.linalg.solve_triangular(lower, b.mT, upper=False, left=False),
            torch.cholesky_solve(b, lower),
            torch.linalg.inv(wide @ wide.mT + 20 * torch.eye(33, dtype=torch.float64)),
        )


def get_inputs():
    return [torch.randn(40, 5, 5), torch.randn(40, 5, 3), torch.randn(40, 5), torch.randn(3, 33, 33, dtype=torch.float64)]


def get_init_inputs():
    return []
