"""packages.lock holds every package with its hashes, is made from what stands beside it, and names what was young."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from golem_project.embedded import lock_packages
from golem_project.embedded.lock_packages import OLD_ENOUGH, digest_inputs, read_young, split_blocks
from tests.architecture.sources import ROOT

FIX = "run `make lock` and look at the difference"


@dataclass(frozen=True)
class Lock:
    """What packages.lock holds: a digest of its inputs, two moments, and each package with version and hashes."""

    inputs: str
    locked_at: datetime
    published_before: datetime
    packages: dict[str, tuple[str, frozenset[str]]]


def read_lock() -> Lock:
    text = (ROOT / "packages.lock").read_text()
    told = dict(re.findall(r"^# ([a-z ]+): (\S+)$", text, re.MULTILINE))
    packages = {}
    for block in split_blocks(text):
        name, version = re.split("==| ", block, maxsplit=2)[:2]
        packages[name] = (version, frozenset(re.findall(r"--hash=(sha256:[0-9a-f]{64})", block)))
    return Lock(
        told["inputs"],
        datetime.fromisoformat(told["locked at"]),
        datetime.fromisoformat(told["published before"]),
        packages,
    )


def read_pins(name: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", (ROOT / name).read_text(), re.MULTILINE)
    return {canonicalize_name(package): version for package, version in found}


def test_every_package_is_locked_at_its_version_with_hashes() -> None:
    locked = read_lock().packages
    assert {name: version for name, (version, _) in locked.items()} == read_pins("constraints.txt"), FIX
    assert read_pins("requirements.txt").items() <= read_pins("constraints.txt").items()
    assert [name for name, (_, hashes) in locked.items() if not hashes] == []


def test_the_lock_is_made_from_what_stands_beside_it() -> None:
    assert read_lock().inputs == digest_inputs(), FIX


@pytest.mark.parametrize("change", ["requirements", "constraints", "young"])
def test_a_change_without_a_new_lock_is_noticed(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if change == "young":
        monkeypatch.setattr(lock_packages, "read_young", lambda: {"django==5.2.19": "a hole in it"})
    else:
        monkeypatch.setattr(lock_packages, change.upper(), ROOT / "pyproject.toml")
    assert read_lock().inputs != digest_inputs()


def test_nothing_was_locked_within_a_week_of_its_publication_but_what_is_named_with_a_reason() -> None:
    lock = read_lock()
    assert lock.locked_at - lock.published_before == OLD_ENOUGH >= timedelta(days=7)
    assert lock.locked_at <= datetime.now(UTC)
    locked = {f"{name}=={version}" for name, (version, _) in lock.packages.items()}
    assert read_young().keys() <= locked, "a version that is not locked any more needs no leave"
    assert all(len(reason.split()) >= 3 for reason in read_young().values())


def test_what_the_installed_packages_need_is_locked_too() -> None:
    locked = read_lock().packages
    missing = {}
    for name in locked:
        try:
            needs = importlib.metadata.distribution(name).requires or []
        except importlib.metadata.PackageNotFoundError:
            # For another Python than this one.
            continue
        for each in map(Requirement, needs):
            is_needed = each.marker is None or each.marker.evaluate({"extra": ""})
            if is_needed and canonicalize_name(each.name) not in locked:
                missing[name] = each.name
    assert missing == {}
