"""Chooses the nonce of a Safe for the next request, and knows whose turn it is.

Open transactions of one Safe stand in a row; a constraint of the database gives each nonce to one of them. A nonce that
one gave up is free for the next that is asked for, or is used up by an empty transaction.

See docs/decisions/0081-safe-owners-sign-a-golems-plans-in-the-order.md.
"""

from __future__ import annotations

from permits_app.approval_errors import ChangeStale, SafeTurnAwaited
from permits_app.custody.safe_view import SafeView
from permits_app.models import OwnerTransaction
from permits_app.models.owner_transaction import HOLDS_NONCE, OwnerTransactionState

_HELD = [str(state) for state in HOLDS_NONCE]


def find_free_nonce(*, chain_id: int, safe: str, at_least: int) -> int:
    """The smallest nonce from `at_least` on, the Safe's own, that no transaction here holds."""
    held = set(
        OwnerTransaction.objects.filter(
            chain_id=chain_id, safe=safe, safe_nonce__gte=at_least, state__in=_HELD
        ).values_list("safe_nonce", flat=True)
    )
    nonce = at_least
    while nonce in held:
        nonce += 1
    return nonce


def find_gap(asked: OwnerTransaction, safe: SafeView) -> int | None:
    """The first nonce before `asked` that nothing is asked under, so that its turn never comes; None without one."""
    free = find_free_nonce(chain_id=asked.chain_id, safe=asked.safe, at_least=safe.nonce)
    return free if free < asked.safe_nonce else None


def is_free(asked: OwnerTransaction, safe: SafeView) -> bool:
    """Whether the nonce of one that let go of it is unused, and nothing else is asked for under it."""
    free = find_free_nonce(chain_id=asked.chain_id, safe=asked.safe, at_least=asked.safe_nonce)
    return safe.nonce <= asked.safe_nonce == free


def check_not_past(asked: OwnerTransaction, safe: SafeView) -> None:
    """Raises ChangeStale when the Safe used this nonce for something else, or it was given up here."""
    if asked.state == OwnerTransactionState.DEAD:
        raise ChangeStale("it was given up; ask for it again", bound_nonce=str(asked.safe_nonce))
    if safe.nonce > asked.safe_nonce:
        raise ChangeStale(
            f"the Safe is at nonce {safe.nonce}; what was asked for is bound to {asked.safe_nonce}",
            nonce=str(safe.nonce),
            bound_nonce=str(asked.safe_nonce),
        )


def check_turn(asked: OwnerTransaction, safe: SafeView) -> None:
    """Raises SafeTurnAwaited while the Safe has earlier nonces to use, and what check_not_past raises."""
    check_not_past(asked, safe)
    if safe.nonce < asked.safe_nonce:
        raise SafeTurnAwaited(describe_turn(asked, safe), nonce=str(safe.nonce), bound_nonce=str(asked.safe_nonce))


def describe_turn(asked: OwnerTransaction, safe: SafeView) -> str:
    """Why it is not `asked`'s turn, for its owners; empty when it is."""
    if safe.nonce >= asked.safe_nonce:
        return ""
    gap = find_gap(asked, safe)
    if gap is None:
        ahead = asked.safe_nonce - safe.nonce
        return f"{ahead} earlier transaction{'s' if ahead > 1 else ''} of the Safe come{'' if ahead > 1 else 's'} first"
    return f"nothing is asked under nonce {gap} of the Safe any more, and nonce {asked.safe_nonce} comes after it"
