"""A client of a golem's HTTP interface: every operation, retries that do nothing twice, and its events."""

from golem_client.client import GolemClient
from golem_client.events import GolemEvent
from golem_client.problem import GolemProblem, GolemUnreachable

__all__ = ["GolemClient", "GolemEvent", "GolemProblem", "GolemUnreachable"]
