"""The public door of a live golem and a running server, for clients that are no part of the product."""

from __future__ import annotations

import sys

from tests.architecture.sources import ROOT
from tests.catalogue.door import door as door
from tests.golem_project.stream.conftest import web_port as web_port

# As an agent's owner has it: installed, and nothing of the product beside it.
sys.path.insert(0, str(ROOT / "clients" / "python"))
