"""What a stranger's calldata is refused for."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ForeignCallRefused(
    GolemError, status=502, recovery=Recovery.GIVE_UP, title="The service's calldata is not what was asked for"
):
    """Calldata that a service made does something else than was asked for. `field` names what."""


class ForeignAnswerUnfit(
    GolemError,
    status=502,
    recovery=Recovery.GIVE_UP,
    title="The service's answer is about something else than was asked",
):
    """A service answered about another token, amount, chain or account than was asked about. `field` names what."""


class AccountNotDelegated(
    GolemError,
    status=409,
    recovery=Recovery.GIVE_UP,
    title="The account is not delegated to that contract",
    cleared_by="api_swap, which any account can carry out",
):
    """The account runs no other contract's code on this chain, or another's than was named. `data` has delegated_to."""
