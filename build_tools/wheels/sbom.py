"""The bill of materials of a wheel: CycloneDX 1.6 JSON, for ``.dist-info/sboms/`` (PEP 770).

The same inputs give the same bytes: the time is the release's, and the serial number is derived from the content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Final
from uuid import UUID, uuid5

from cyclonedx.model import HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.contact import OrganizationalEntity
from cyclonedx.model.dependency import Dependency
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from build_tools.data import catalog
from build_tools.providers import lock
from build_tools.providers.lock import LockedObject, Provider

FILE_NAME: Final = "aiter_mla_aot.cdx.json"
PROPERTY: Final = "aiter-mla-aot"
"""Prefix of the names of our own properties."""

_NAMESPACE: Final = UUID("5f0f3a52-6a3e-5d6a-9a5e-0f7c5f1f8f10")
_TOOLS: Final = ("ziglang", "setuptools", "cyclonedx-python-lib")
_MIT: Final = (DisjunctiveLicense(id="MIT"),)


def sbom_bytes(
    hsa: Path, archs: Sequence[str], version: str, epoch: int, libraries: Mapping[str, str], *, locks: Path | None = None
) -> bytes:
    """The bill of materials of a wheel of these archs.

    epoch: the release's date in seconds. libraries: SHA-256 of each compiled library by its path in the wheel.
    locks: a directory of ``<arch>/lock.toml`` other than ``hsa``.
    Raises ``DataError`` and its kinds.
    """
    amd = OrganizationalEntity(name="Advanced Micro Devices, Inc.", urls=[XsUri("https://github.com/ROCm/aiter")])
    root = _component("aiter-mla-aot", ComponentType.LIBRARY, version=version, purl=PackageURL("pypi", None, "aiter-mla-aot", version))
    parts = [_component(path, ComponentType.FILE, sha256=libraries[path]) for path in sorted(libraries)]
    sources: dict[str, Component] = {}
    edges = []
    for arch in sorted(set(archs)):
        locked = lock.read(locks or hsa, arch)
        shipped = catalog.load(hsa, arch, locks=locks).shipped()
        source = _source(locked.provider, amd)
        source = sources.setdefault(str(source.bom_ref), source)
        objects = [_code_object(arch, item, locked.provider, amd) for item in locked.objects if item.sha256 in shipped]
        edges += [Dependency(item.bom_ref, [Dependency(source.bom_ref)]) for item in objects]
        parts += objects
    bom = Bom(components=[*parts, *sources.values()], serial_number=_NAMESPACE)
    bom.metadata.component = root
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, timezone.utc)
    bom.metadata.tools.components.update(_tools())
    bom.dependencies.update([Dependency(root.bom_ref, [Dependency(part.bom_ref) for part in parts]), *edges])
    bom.serial_number = uuid5(_NAMESPACE, _render(bom))
    return _render(bom).encode()


def _render(bom: Bom) -> str:
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _code_object(arch: str, item: LockedObject, provider: Provider, supplier: OrganizationalEntity) -> Component:
    return _component(
        f"aiter_mla_aot/kernels/{arch}/{item.file}",
        ComponentType.FILE,
        sha256=item.sha256,
        supplier=supplier,
        version=provider.version,
        purl=_purl(provider, f"aiter_meta/hsa/{arch}/mla/{item.file}"),
        properties=[Property(name=f"{PROPERTY}:arch", value=arch), Property(name=f"{PROPERTY}:provider", value=provider.name)],
    )


def _source(provider: Provider, supplier: OrganizationalEntity) -> Component:
    return _component(
        provider.name,
        ComponentType.LIBRARY,
        sha256=provider.sha256,
        supplier=supplier,
        version=provider.version,
        purl=_purl(provider),
        properties=[Property(name=f"{PROPERTY}:kind", value=provider.kind)],
    )


def _purl(provider: Provider, subpath: str | None = None) -> PackageURL | None:
    # Only a published wheel has a package URL; a checkout or an installed copy is known by its hashes alone.
    if provider.kind != "wheel":
        return None
    return PackageURL("pypi", None, provider.name, provider.version, None, subpath)


def _tools() -> Iterable[Component]:
    for name in _TOOLS:
        version = installed_version(name)
        yield _component(name, ComponentType.APPLICATION, version=version, purl=PackageURL("pypi", None, name, version), licenses=())


def _component(
    name: str,
    kind: ComponentType,
    *,
    sha256: str | None = None,
    version: str | None = None,
    purl: PackageURL | None = None,
    supplier: OrganizationalEntity | None = None,
    properties: Iterable[Property] = (),
    licenses: Iterable[DisjunctiveLicense] = _MIT,
) -> Component:
    return Component(
        name=name,
        type=kind,
        bom_ref=f"{name}@{version}" if version else name,
        version=version,
        purl=purl,
        supplier=supplier,
        licenses=licenses,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else (),
        properties=properties,
    )
