"""Reads of Maker: kinds of vaults with the fee up to the block, and the vaults of an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.networks import MULTICALL3
from tools_app.protocols.maker_sky import math
from tools_app.protocols.maker_sky.addresses import contracts_at, deployments
from tools_app.standards.rays import RAY, rpow
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.positions import PositionsUnreadable, Reads, gather

GET_CDPS: Final = (
    "function getCdpsAsc(address manager, address guy) view returns (uint256[] ids, address[] urns, bytes32[] ilks)"
)
VAT_ILK: Final = (
    "function ilks(bytes32 ilk) view returns (uint256 Art, uint256 rate, uint256 spot, uint256 line, uint256 dust)"
)
VAT_URN: Final = "function urns(bytes32 ilk, address urn) view returns (uint256 ink, uint256 art)"
VAT_DAI: Final = "function dai(address usr) view returns (uint256 rad)"
VAT_LIVE: Final = "function live() view returns (uint256)"
VAT_CAN: Final = "function can(address bit, address usr) view returns (uint256 allowed)"
CDP_CAN: Final = "function cdpCan(address owner, uint256 cdp, address usr) view returns (uint256 allowed)"
JUG_ILK: Final = "function ilks(bytes32 ilk) view returns (uint256 duty, uint256 rho)"
JUG_BASE: Final = "function base() view returns (uint256 rate)"
SPOT_ILK: Final = "function ilks(bytes32 ilk) view returns (address pip, uint256 mat)"
NOW: Final = "function getCurrentBlockTimestamp() view returns (uint256 timestamp)"


def ask_vaults(chain_id: int, account: str) -> Reads[tuple[math.VaultState, ...]]:
    """Every vault the manager keeps for `account`; for one without any, one batch. Raises PositionsUnreadable."""
    place = contracts_at(chain_id)
    (listed,) = yield [ReadCall(place.get_cdps, GET_CDPS, (place.cdp_manager, account))]
    ids, urns, ilks = _answer(listed, "its vaults")
    if not ids:
        return ()
    names = tuple(dict.fromkeys(ilks))
    urns_found, dai_found, kinds_found = yield from gather(
        [ReadCall(place.vat, VAT_URN, (ilk, urn)) for ilk, urn in zip(ilks, urns, strict=True)],
        [ReadCall(place.vat, VAT_DAI, (urn,)) for urn in urns],
        list_kind_reads(chain_id, names),
    )
    kinds = dict(zip(names, read_kinds(names, kinds_found), strict=True))
    return tuple(
        math.VaultState(cdp, urn, kinds[ilk], *_answer(held, "a vault"), *_answer(inside, "the DAI inside a vault"))
        for cdp, urn, ilk, held, inside in zip(ids, urns, ilks, urns_found, dai_found, strict=True)
    )


def ask_live(chain_id: int) -> Reads[bool]:
    """Whether Maker runs: shut down, its vaults neither take nor give. One batch. Raises PositionsUnreadable."""
    (live,) = yield [ReadCall(contracts_at(chain_id).vat, VAT_LIVE)]
    return bool(_answer(live, "whether it runs")[0])


def ask_contracts(chain_id: int, account: str) -> Reads[tuple[tuple[object, ...], ...]]:
    """Maker's own contracts, each as the one argument of a right over `account`; asks nothing."""
    yield []
    return tuple((address,) for address in (deployments(chain_id) or {}).values())


def list_kind_reads(chain_id: int, names: Sequence[bytes]) -> list[ReadCall]:
    """What `read_kinds` reads."""
    place = contracts_at(chain_id)
    return [
        ReadCall(MULTICALL3, NOW),
        ReadCall(place.jug, JUG_BASE),
        *(
            ReadCall(address, signature, (name,))
            for name in names
            for address, signature in ((place.vat, VAT_ILK), (place.jug, JUG_ILK), (place.spot, SPOT_ILK))
        ),
    ]


def read_kinds(names: Sequence[bytes], outcomes: Sequence[ReadOutcome]) -> list[math.VaultKind]:
    """The kinds, with the fee that is due but that nobody has asked for yet."""
    (now,), (base,) = _answer(outcomes[0], "what time it is"), _answer(outcomes[1], "its base fee")
    kinds = []
    for index, name in enumerate(names):
        ledger, fees, margin = outcomes[2 + 3 * index : 5 + 3 * index]
        art, rate, spot, line, dust = _answer(ledger, "a kind of vault")
        duty, since = _answer(fees, "the fee of a kind of vault")
        _, ratio = _answer(margin, "the margin of a kind of vault")
        fee = base + duty
        grown = rpow(fee, max(0, now - since)) * rate // RAY
        kinds.append(
            math.VaultKind(name.rstrip(b"\0").decode("ascii", "replace"), art, grown, spot, line, dust, fee, ratio)
        )
    return kinds


def word_of(collateral_type: str) -> bytes:
    """`ETH-A` as the contracts name it."""
    return collateral_type.encode().ljust(32, b"\0")


def _answer(outcome: ReadOutcome, what: str) -> AbiValues:
    if not outcome.ok:
        raise PositionsUnreadable(f"Maker does not tell {what}: {outcome.revert_reason}")
    return outcome.values
