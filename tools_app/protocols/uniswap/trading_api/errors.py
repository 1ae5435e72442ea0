"""What a stranger's calldata is refused for."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class ForeignCallRefused(GolemError):
    """Calldata that a service made does something else than was asked for. `field` names what."""

    code = "FOREIGN_CALL_REFUSED"
    http_status = 502
    recovery = Recovery.GIVE_UP
    title = "The service's calldata is not what was asked for"


class ForeignAnswerUnfit(GolemError):
    """A service answered about another token, amount, chain or account than was asked about. `field` names what."""

    code = "FOREIGN_ANSWER_UNFIT"
    http_status = 502
    recovery = Recovery.GIVE_UP
    title = "The service's answer is about something else than was asked"


class AccountNotDelegated(GolemError):
    """The account runs no other contract's code on this chain, or another's than was named. `data` has delegated_to."""

    code = "ACCOUNT_NOT_DELEGATED"
    http_status = 409
    recovery = Recovery.GIVE_UP
    cleared_by = "api_swap, which any account can carry out"
    title = "The account is not delegated to that contract"
