"""Proxies of a cluster have no fixed address: they are named by their network."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from golem_project.front.addresses import name_address


@pytest.mark.parametrize(
    ("peer", "forwarded", "counted"),
    [
        ("10.1.2.3", "203.0.113.9, 10.9.9.9", "203.0.113.9"),
        ("::1", "203.0.113.9", "203.0.113.9"),
        ("11.0.0.1", "203.0.113.9", "11.0.0.1"),
        ("10.1.2.3", "10.4.4.4", "10.1.2.3"),
        ("a socket", "203.0.113.9", "unknown"),
    ],
)
def test_who_lies_in_a_named_network_is_believed_and_nobody_else(
    settings: Any, peer: str, forwarded: str, counted: str
) -> None:
    settings.GOLEM_TRUSTED_PROXIES = frozenset({"10.0.0.0/8", "::1"})
    assert name_address(peer, forwarded=forwarded) == counted


@pytest.mark.parametrize("named", ["10.0.0.0/33", "10.0.0.1/8", "the proxy"])
def test_no_process_starts_with_a_network_that_is_none(named: str) -> None:
    environment = {**os.environ, "GOLEM_TRUSTED_PROXIES": named}
    argv = [sys.executable, "-c", "import golem_project.settings.front"]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "GOLEM_TRUSTED_PROXIES" in done.stderr
