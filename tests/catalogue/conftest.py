"""The public door, for the tests that go through it."""

from __future__ import annotations

from tests.catalogue.door import door as door
