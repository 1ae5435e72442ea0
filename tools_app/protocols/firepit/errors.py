"""Defines what speaks against emptying the jar."""

from __future__ import annotations

from tools_app.core.errors import GolemError, Recovery


class JarNotAsKnown(GolemError):
    """The jar and its releaser do not name each other, or do not answer. `data` has what they say."""

    code = "JAR_NOT_AS_KNOWN"
    http_status = 409
    recovery = Recovery.ASK_OWNER
    cleared_by = "an operator who looks at what the two contracts say"
    title = "The jar and its releaser do not name each other"


class JarHoldsNone(GolemError):
    """The jar holds none of an asset that was asked for. `data` has asset."""

    code = "JAR_HOLDS_NONE"
    http_status = 409
    recovery = Recovery.FIX_PARAMS
    cleared_by = "assets that get_tokenjar_balances tells"
    title = "The jar holds none of that asset"


class BurnNotWorthIt(GolemError):
    """What is given up is worth more than what would come. `data` has cost and worth in micro-dollars."""

    code = "BURN_NOT_WORTH_IT"
    http_status = 409
    recovery = Recovery.WAIT
    cleared_by = "more fees in the jar, or more of its assets named"
    title = "The jar holds less than emptying it costs"


class BurnAskedWrong(GolemError):
    """The list of assets is not one a release takes: an asset twice, too many, or what is given up itself."""

    code = "BURN_ASSETS_REFUSED"
    http_status = 422
    recovery = Recovery.FIX_PARAMS
    cleared_by = "a list that its reason describes"
    title = "The list of assets is not one a release takes"
