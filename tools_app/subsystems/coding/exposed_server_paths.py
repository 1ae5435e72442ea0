"""Finds paths of this server that commands would see through their fences.

A folder can be below such a path under another name too, by a link or a mount, so real paths and mounts are compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SHOWN = ("/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
SHOWN_WITH_NETWORK = ("/etc/resolv.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf")


@dataclass(frozen=True, slots=True)
class _Mount:
    """Part `root` of the file system `device`, seen at `point`."""

    device: str
    root: str
    point: str


def find_shown(kept: Iterable[Path]) -> str:
    """What of `kept` commands would see, in words; empty while they see none of it."""
    shown = tuple(dict.fromkeys(os.path.realpath(path) for path in (*SHOWN, *SHOWN_WITH_NETWORK)))
    mounts = _read_mounts()
    for path in kept:
        real = os.path.realpath(path)
        for name in _list_names(real, mounts):
            for each in shown:
                if _is_below(name, each):
                    return f"{path} lies below {each}" + (f" (as {name})" if name != str(path) else "")
                if _is_below(each, name) and name != "/":
                    return f"{each} lies in {path}"
    return ""


def _list_names(real: str, mounts: list[_Mount]) -> Iterable[str]:
    """Every path at which what is at `real` can be seen, wholly or a part of it."""
    yield real
    here = max(
        (mount for mount in mounts if _is_below(real, mount.point)), key=lambda each: len(each.point), default=None
    )
    if here is None:
        return
    inside = _move(real, here.point, here.root)
    for mount in mounts:
        if mount.device != here.device:
            continue
        if _is_below(inside, mount.root):
            yield _move(inside, mount.root, mount.point)
        elif _is_below(mount.root, inside):
            yield mount.point


def _move(path: str, old: str, new: str) -> str:
    """Where `path`, which is below `old`, is when that is called `new`."""
    return os.path.normpath(os.path.join(new, os.path.relpath(path, old)))


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _read_mounts() -> list[_Mount]:
    found: list[_Mount] = []
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, _, device, root, point, *_ = line.split()
        found.append(_Mount(device, _unescape(root), _unescape(point)))
    return found


def _unescape(text: str) -> str:
    for written, meant in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(written, meant)
    return text
