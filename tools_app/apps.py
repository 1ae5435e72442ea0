"""Start-up of the bottom layer: find every tool, register it, freeze. A broken tool stops the start."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

from django.apps import AppConfig, apps

from tools_app.core.database_after_fork import connect_anew_after_forks
from tools_app.core.thread_sessions import give_back_when_threads_end
from tools_app.protocols import load_protocols
from tools_app.toolkit.family import FAMILIES
from tools_app.toolkit.registry import REGISTRY

_TOOL_PACKAGES = ("tools_app.protocols", "tools_app.subsystems")


class ToolsConfig(AppConfig):
    """The bottom layer's part of a start."""

    name = "tools_app"
    verbose_name = "Tools and audit"

    def ready(self) -> None:
        """Before anything opens a connection."""
        connect_anew_after_forks()
        give_back_when_threads_end()
        importlib.import_module("tools_app.history.checks")


def load_registry() -> None:
    """Import every module that declares tools or a protocol, fill registry and shelf; does nothing the second time.

    Raises ImportError from a broken tool module and RegistryConflict on a duplicate name or route.
    """
    if REGISTRY.is_frozen:
        return
    load_protocols()
    for package in _TOOL_PACKAGES:
        _import_below(package)
    for config in apps.get_app_configs():
        if importlib.util.find_spec(f"{config.name}.tools") is not None:
            module = importlib.import_module(f"{config.name}.tools")
            if hasattr(module, "__path__"):
                _import_below(module.__name__)
    for family in FAMILIES:
        REGISTRY.add_all(family.tools)
    REGISTRY.freeze()


def _import_below(package: str) -> None:
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, prefix=f"{package}."):
        importlib.import_module(found.name)
