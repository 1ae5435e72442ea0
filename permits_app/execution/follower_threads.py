"""The threads that follow: in each process of commit workers one per chain, of which one in all has the chain's lease.

A node that hangs holds its own chain's thread only.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from uuid import UUID

from django.db import InterfaceError, OperationalError, connections

from permits_app.execution.chain_follower import Follower
from permits_app.execution.commit_lease import free_lost
from tools_app.chain.networks import is_configured
from tools_app.core import clock, wake_waiting_process
from tools_app.core.blocked_flows import audited

logger = logging.getLogger(__name__)

_CANDIDATE_SECONDS = 1.0
_LEAVE_SECONDS = 5.0


def name_sending(chain_id: int) -> str:
    """What a chain's follower is woken by when something was sent that it is to look for."""
    return f"sent:{chain_id}"


class Following:
    """The followers of one process, from `start` to `stop`."""

    def __init__(
        self,
        chain_ids: Iterable[int],
        *,
        hand: Callable[[UUID], None],
        came_back: Callable[[], None] = lambda: None,
        heard_again: Callable[[], None] = lambda: None,
    ) -> None:
        """`came_back` is called once a node answers again, `heard_again` once the broker does: it may have lost what
        it was given for workers.
        """
        self._hand, self._came_back, self._heard_again = hand, came_back, heard_again
        self._is_over = threading.Event()
        self._threads = {
            chain_id: threading.Thread(target=self._follow, args=(chain_id,), name=f"follower-{chain_id}", daemon=True)
            for chain_id in chain_ids
        }

    def start(self) -> None:
        """Begin, and return."""
        for thread in self._threads.values():
            thread.start()

    def stop(self) -> None:
        """End, and let other processes follow at once."""
        self._is_over.set()
        for chain_id, thread in self._threads.items():
            wake_waiting_process.tap(name_sending(chain_id))
            thread.join(_LEAVE_SECONDS)

    def _follow(self, chain_id: int) -> None:
        while not is_configured(chain_id) and not self._is_over.is_set():
            self._is_over.wait(_CANDIDATE_SECONDS)
        follower = Follower(chain_id, hand=self._hand, came_back=self._came_back)
        with wake_waiting_process.waiting_for(name_sending(chain_id)) as waiter:
            heard = wake_waiting_process.count_hearings()
            while not self._is_over.is_set():
                before, heard = heard, wake_waiting_process.count_hearings()
                seconds = self._look(follower, is_heard_again=0 < before < heard)
                if seconds is None:
                    self._is_over.wait(_CANDIDATE_SECONDS)
                else:
                    waiter.wait(seconds)
        try:
            follower.leave()
        except (OperationalError, InterfaceError) as error:
            logger.warning("the lease on chain %s runs out by itself: %s", chain_id, type(error).__name__)
        finally:
            connections.close_all()

    def _look(self, follower: Follower, *, is_heard_again: bool) -> float | None:
        """Seconds until the next look; None where there is nothing to look at now."""
        try:
            for permit_id in free_lost():
                self._hand(permit_id)
            if is_heard_again:
                self._heard_again()
            with audited(actor="system:follower", now=clock.now):
                look = follower.look(now=clock.now())
        except (OperationalError, InterfaceError) as error:
            logger.warning("chain %s is not followed now: %s", follower.chain_id, type(error).__name__)
        except Exception:
            # A thread that ended here would leave every later payload of the chain to the sweep.
            logger.exception("the follower of chain %s failed", follower.chain_id)
        else:
            return look.pause_ms / 1000 if look.is_ours else None
        finally:
            # Back to the pool: between two looks a worker may need it.
            connections.close_all()
        return None
