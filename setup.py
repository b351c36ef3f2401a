"""Wires the build graph of ``build_tools`` into setuptools; everything static is in ``pyproject.toml``."""

import os
from pathlib import Path

from setuptools import setup

from build_tools import settings
from build_tools.wheels import release
from build_tools.wheels.setuptools_commands import ROOT, BinaryDistribution, BuildPackage, WheelWithInventory

# The time of every file in the wheel, whoever builds it and when.
os.environ["SOURCE_DATE_EPOCH"] = str(release.read(ROOT).epoch)
Path("build/egg-info").mkdir(parents=True, exist_ok=True)
setup(
    version=release.version(ROOT, settings.read(ROOT / "hsa", os.environ)),
    packages=["aiter_mla_aot"],
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildPackage, "bdist_wheel": WheelWithInventory},
)
