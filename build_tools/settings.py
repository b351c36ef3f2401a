"""Settings of a build, from the environment, from PEP 517 ``--config-settings`` and from options: all reach the same fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from build_tools.errors import SettingInvalid

VARIABLES: Final = {
    "aiter-source": "AITER_MLA_AOT_AITER_SOURCE",
    "arch": "AITER_MLA_AOT_ARCHS",
    "allow-unproven": "AITER_MLA_AOT_ALLOW_UNPROVEN",
}
"""Name of each setting in ``--config-settings``, and of its environment variable. A config setting wins over the variable."""

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What a build is asked for. ``archs`` is sorted and holds every arch of ``hsa/`` by default."""

    archs: tuple[str, ...]
    aiter_source: Path | None = None
    allow_unproven: bool = False

    def environment(self) -> dict[str, str]:
        """The variables that give these settings to another process."""
        return {
            "AITER_MLA_AOT_AITER_SOURCE": str(self.aiter_source or ""),
            "AITER_MLA_AOT_ARCHS": ",".join(self.archs),
            "AITER_MLA_AOT_ALLOW_UNPROVEN": "1" if self.allow_unproven else "",
        }


def known_archs(hsa: Path) -> tuple[str, ...]:
    """The archs that have a folder of data, sorted."""
    return tuple(sorted(path.name for path in hsa.iterdir() if path.is_dir() and path.name.startswith("gfx")))


def read(hsa: Path, environment: Mapping[str, str], config: Mapping[str, object] | None = None) -> Settings:
    """Settings from variables and PEP 517 config settings. Raises ``SettingInvalid``."""
    texts = {name: environment.get(variable, "") for name, variable in VARIABLES.items()}
    for name, value in (config or {}).items():
        if name not in VARIABLES:
            raise SettingInvalid(f"unknown setting {name!r}", cause="no part of the build reads it", remedy=f"use {', '.join(VARIABLES)}")
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, (str, bool)) for item in values):
            raise SettingInvalid(f"setting {name}: {value!r}", cause="a setting is a text", remedy=f"write {name}=VALUE")
        texts[name] = ",".join(str(item) for item in values)
    source = texts["aiter-source"].strip()
    return Settings(
        select_archs(hsa, [part.strip() for part in texts["arch"].split(",")]),
        Path(source).absolute() if source else None,
        _boolean("allow-unproven", texts["allow-unproven"]),
    )


def select_archs(hsa: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Check names of archs: one, or all, which is also what none means. Raises ``SettingInvalid``."""
    known = known_archs(hsa)
    chosen = sorted({name for name in names if name})
    for name in chosen:
        if name not in known:
            raise SettingInvalid(f"arch {name!r} is not known", cause="hsa/ has no data for it", remedy=f"use {', '.join(known)}")
    if len(chosen) > 1 and tuple(chosen) != known:
        raise SettingInvalid(
            f"archs {', '.join(chosen)}", cause="a wheel holds one arch or all", remedy=f"give one of {', '.join(known)}, or none"
        )
    return tuple(chosen) or known


def _boolean(name: str, text: str) -> bool:
    if text.strip().lower() in _TRUE:
        return True
    if text.strip().lower() in _FALSE:
        return False
    raise SettingInvalid(f"setting {name}: {text!r}", cause="the setting is yes or no", remedy=f"write {name}=true or leave it out")
