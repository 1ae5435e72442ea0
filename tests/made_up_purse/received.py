"""What the purse says of a right over somebody's money."""

from __future__ import annotations

from collections.abc import Sequence

from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.others_money import RightStanding, RightView
from tools_app.toolkit.positions import PositionsUnreadable

from .addresses import DEPLOYED

LEFT = "function left(address,address,address) view returns (uint256, uint256)"


class PurseRights:
    """One question for each."""

    def ask(self, right: RightView) -> list[ReadCall]:
        """What is left of it today."""
        return [ReadCall(DEPLOYED[right.chain_id]["purse"], LEFT, (right.principal, right.holder, right.token))]

    def give_up(self, right: RightView) -> tuple[str, str, tuple[str, str]]:
        """Its manager says no more."""
        return DEPLOYED[right.chain_id]["purse"], "function giveUp(address,address)", (right.principal, right.token)

    def judge(self, right: RightView, outcomes: Sequence[ReadOutcome]) -> RightStanding:
        """It stands until its end, and while it was not taken back."""
        [told] = outcomes
        if not told.ok:
            raise PositionsUnreadable("the purse does not answer")
        ends, left = told.values
        return RightStanding(ends > 0, left, "" if ends else "the purse says it was taken back")
