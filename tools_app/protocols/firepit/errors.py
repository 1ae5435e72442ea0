"""Defines what speaks against emptying the jar."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class JarNotAsKnown(
    GolemError,
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="The jar and its releaser do not name each other",
    cleared_by="an operator who looks at what the two contracts say",
):
    """The jar and its releaser do not name each other, or do not answer. `data` has what they say."""


class JarHoldsNone(
    GolemError,
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The jar holds none of that asset",
    cleared_by="assets that get_tokenjar_balances tells",
):
    """The jar holds none of an asset that was asked for. `data` has asset."""


class BurnNotWorthIt(
    GolemError,
    status=409,
    recovery=Recovery.WAIT,
    title="The jar holds less than emptying it costs",
    cleared_by="more fees in the jar, or more of its assets named",
):
    """What is given up is worth more than what would come. `data` has cost and worth in micro-dollars."""


class BurnAskedWrong(
    GolemError,
    code="BURN_ASSETS_REFUSED",
    status=422,
    recovery=Recovery.FIX_PARAMS,
    title="The list of assets is not one a release takes",
    cleared_by="a list that its reason describes",
):
    """The list of assets is not one a release takes: an asset twice, too many, or what is given up itself."""
