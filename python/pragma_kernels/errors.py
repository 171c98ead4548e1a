"""The error of this package."""


class PackageError(Exception):
    """Why a folder of kernels cannot be used with a model: one line that says what was tried and why it failed."""
