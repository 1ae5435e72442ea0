"""Reads the environment, once, with the errors a person can act on."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from golem_project.embedded.secret_files import write_once

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VAR_DIR = Path(os.environ.get("GOLEM_VAR_DIR", BASE_DIR / "var"))


def read_text(name: str, default: str = "") -> str:
    """The variable `name`, or `default`."""
    return os.environ.get(name, default)


def read_flag(name: str, default: bool) -> bool:
    """A true/false variable: 1, true, yes, on."""
    text = os.environ.get(name)
    return default if text is None else text.strip().lower() in {"1", "true", "yes", "on"}


def read_integer(name: str, default: int) -> int:
    """A whole-number variable. Raises ImproperlyConfigured with the variable's name."""
    text = os.environ.get(name)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {text!r}") from None


def read_secret_path(name: str, default: str = "") -> str:
    """The path that `<name>_FILE` gives, or `default`. Raises ImproperlyConfigured for one that is no file."""
    given = os.environ.get(f"{name}_FILE")
    if given and not Path(given).is_file():
        raise ImproperlyConfigured(
            f"{name}_FILE names {given}, which is not a file. Fix: write it, readable by this user alone; what a "
            "lost machine had lies in keys.tar, where `manage.py backup` put its keys"
        )
    return given or default


def read_secret(name: str, *, fallback_file: Path | None = None) -> str:
    """A secret from `<name>_FILE`, else `<name>`, else `fallback_file`, which is made with 0600 when it is missing."""
    path_text = read_secret_path(name)
    if path_text:
        return Path(path_text).read_text(encoding="utf-8").strip()
    value = os.environ.get(name)
    if value:
        return value
    if fallback_file is None:
        raise ImproperlyConfigured(f"set {name} or {name}_FILE")
    if not fallback_file.exists():
        fallback_file.parent.mkdir(parents=True, exist_ok=True)
        write_once(fallback_file, secrets.token_urlsafe(48))
    return fallback_file.read_text(encoding="utf-8").strip()


def read_url(name: str, default: str) -> str:
    """An address that may hold a password: from `<name>_FILE`, else `<name>`, else `default`."""
    return read_optional_secret(name) or default


def read_optional_secret(name: str) -> str:
    """A secret from `<name>_FILE`, else `<name>`, else nothing. Raises ImproperlyConfigured for a missing file."""
    return read_secret(name) if os.environ.get(f"{name}_FILE") or os.environ.get(name) else ""
