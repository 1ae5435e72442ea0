"""The public door of a live golem and a running server, for clients that are no part of the product."""

from __future__ import annotations

from tests.catalogue.door import door as door
from tests.golem_project.stream.conftest import web_port as web_port
