"""Read-only view of AMDGPU code objects: ``read`` them, ``compare`` them with the catalog."""

from .comparison import HOST_BLOCK, KernelRow, check_arch, check_hash, compare, find_kernel
from .model import Argument, CodeObject, KernelDescriptor, KernelInfo
from .reader import read, read_file
from .targets import Target

__all__ = [
    "HOST_BLOCK",
    "Argument",
    "CodeObject",
    "KernelDescriptor",
    "KernelInfo",
    "KernelRow",
    "Target",
    "check_arch",
    "check_hash",
    "compare",
    "find_kernel",
    "read",
    "read_file",
]
