"""Who may call what of our contracts, and whom each function takes for its caller: the one table of it.

`docs/contracts-by-caller.md` is written from it, and each of its cells is attacked by `test_callers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Caller(Enum):
    """Whose word a function takes."""

    ACCOUNT = "the account alone"
    SESSION = "the key of a role, while its session lasts"
    STOPPER = "the account, an owner of it, the guardian"
    ANYBODY = "anybody"
    WHO_ANNOUNCED = "the account alone, which names itself as who calls"
    THE_LENDER = "the lender that the account announced, through the account"
    NOBODY = (
        "the cage's constructor or the cage, by delegate call; called directly it changes nothing but its own storage"
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One function. `trusts` says what a wrong caller could do with it."""

    contract: str
    function: str
    caller: Caller
    trusts: str


ROWS: Final = (
    Row(
        "PolicyCage",
        "execute((address,uint256,bytes)[])",
        Caller.SESSION,
        "moves what the account holds, within the rules",
    ),
    Row("PolicyCage", "payOut(uint256,address,uint256)", Caller.SESSION, "pays a registered recipient"),
    Row("PolicyCage", "topUpGas(uint256)", Caller.SESSION, "sends the key coins of the account"),
    Row("PolicyCage", "worsenPhase(uint256)", Caller.SESSION, "lets less be done"),
    Row("PolicyCage", "propose((uint8,bytes32,uint256)[])", Caller.ACCOUNT, "changes the rules"),
    Row("PolicyCage", "cancelChange(uint8,bytes32)", Caller.ACCOUNT, "drops a change that waits"),
    Row("PolicyCage", "setSession(address,uint64,uint32,uint256)", Caller.ACCOUNT, "appoints a key"),
    Row("PolicyCage", "appoint(uint256,address,uint64,uint32,uint256)", Caller.ACCOUNT, "appoints a key of a role"),
    Row("PolicyCage", "resume()", Caller.ACCOUNT, "ends a halt"),
    Row("PolicyCage", "acknowledgeDrawdown()", Caller.ACCOUNT, "lets a golem open again after a fall"),
    Row("PolicyCage", "halt()", Caller.STOPPER, "stops every batch"),
    Row(
        "PolicyCage",
        "applyChange(uint8,bytes32)",
        Caller.ANYBODY,
        "applies what the account proposed, once its delay is over",
    ),
    Row("PolicyCage", "notePrices()", Caller.ANYBODY, "notes a price that jumped; from the account it counts at once"),
    Row("PolicyCage", "recordDrawdown()", Caller.ANYBODY, "puts a fall that there is on record"),
    Row("CageGovernance", "begin(uint256[])", Caller.NOBODY, "writes the first rules"),
    Row("CageGovernance", "propose((uint8,bytes32,uint256)[])", Caller.NOBODY, "changes rules"),
    Row("CageGovernance", "applyChange(uint8,bytes32)", Caller.NOBODY, "applies a change"),
    Row("CageGovernance", "cancelChange(uint8,bytes32)", Caller.NOBODY, "drops a change"),
    Row("CageGovernance", "setSession(address,uint64,uint32,uint256)", Caller.NOBODY, "appoints a key"),
    Row("CageGovernance", "appoint(uint256,address,uint64,uint32,uint256)", Caller.NOBODY, "appoints a key of a role"),
    Row("CageGovernance", "worsenPhase(uint256)", Caller.NOBODY, "lets less be done"),
    Row("CageGate", "checkCalls((address,uint256,bytes)[])", Caller.NOBODY, "keeps the prices of a batch"),
    Row("CageGate", "notePrices()", Caller.NOBODY, "notes a price"),
    Row("LoanCallback", "announce(address,bytes)", Caller.WHO_ANNOUNCED, "says what is run as the account with a loan"),
    Row("LoanCallback", "onMorphoFlashLoan(uint256,bytes)", Caller.THE_LENDER, "runs what was announced"),
    Row(
        "LoanCallback",
        "executeOperation(address,uint256,uint256,address,bytes)",
        Caller.THE_LENDER,
        "runs what was announced",
    ),
)

NOTE: Final = next(row for row in ROWS if (row.contract, row.function) == ("PolicyCage", "notePrices()"))

VIEWS: Final[Mapping[str, tuple[str, ...]]] = {
    "PolicyCage": (
        *("GRACE_SECONDS", "VERSION", "account", "assets", "balanceOf", "baseAsset", "delayOf", "gate", "governance"),
        *("isDrawdownBreached", "isEnforced", "isForbidden", "isHalted", "isPriced", "lastRebalanceAt", "measure"),
        *("pending", "positions", "priceOf", "purseOf", "rules", "rulesDigest", "seenPrices", "session", "sessionOf"),
        "spent",
    ),
    "CageGovernance": ("account", "baseAsset", "delayOf"),
    "CageGate": ("account", "baseAsset", "isForbidden", "priceOf"),
    "Deadline": ("mustBeBefore",),
    "LoanCallback": ("onERC1155BatchReceived", "onERC1155Received", "onERC721Received", "whoCalls"),
    "CollateralVaultValuer": ("MOST_COUNTED", "listKinds", "measure", "places", "subject"),
    "CooldownValuer": ("measure", "subject", "token", "underlying"),
    "LendingValuer": ("listReserves", "measure", "pool", "subject"),
    "MarketValuer": ("listMarkets", "measure", "morpho", "subject"),
    "PooledShareValuer": ("measure", "subject", "token", "underlying"),
    "ShareValuer": ("measure", "subject", "token", "underlying", "worthOf"),
    "StakeValuer": ("MOST_COUNTED", "measure", "queue", "stETH", "subject", "wstETH"),
    "V3PositionValuer": ("MOST_COUNTED", "amountsOf", "manager", "measure", "subject"),
}
"""What the compiler holds to change nothing, by contract. None asks who calls; valuers have nothing else."""


class Whose(Enum):
    """Whose word a function of a simulated contract takes."""

    DEPLOYER = "whoever deployed it, which on the local chain is the world itself"
    PART = "another contract of the same protocol"
    OWN = "whoever calls, over what is theirs; what comes of it goes to them or to whom they name"
    ALLOWED = "the owner of what is named, or whom the owner allowed"
    ANYBODY = "anybody; whoever is named gets something or is counted anew, and gives nothing"


_TOKEN: Final[Mapping[Whose, tuple[str, ...]]] = {Whose.OWN: ("approve", "transfer"), Whose.ALLOWED: ("transferFrom",)}
_MAKER_JOIN: Final[Mapping[Whose, tuple[str, ...]]] = {Whose.DEPLOYER: ("deny", "rely"), Whose.OWN: ("exit", "join")}


def _token_and(more: Mapping[Whose, tuple[str, ...]]) -> Mapping[Whose, tuple[str, ...]]:
    return {whose: (*_TOKEN.get(whose, ()), *more.get(whose, ())) for whose in {**_TOKEN, **more}}


_LOCAL_TOKEN: Final = _token_and({Whose.DEPLOYER: ("mint",)})
SIMULATED: Final[Mapping[str, Mapping[Whose, tuple[str, ...]]]] = {
    "FeeOnTransferToken": _LOCAL_TOKEN,
    "NoReturnToken": _LOCAL_TOKEN,
    "SimulatedAccountingOracle": {Whose.DEPLOYER: ("setPunctual", "submitReport")},
    "SimulatedAllowanceModule": {
        Whose.OWN: ("addDelegate", "deleteAllowance", "removeDelegate", "resetAllowance", "setAllowance"),
        Whose.ALLOWED: ("executeAllowanceTransfer",),
    },
    "SimulatedAllocationManager": {
        Whose.DEPLOYER: ("setDelegation",),
        Whose.OWN: ("createOperatorSet", "registerForOperatorSet"),
        Whose.ALLOWED: ("slashOperator", "updateAVSMetadataURI"),
    },
    "SimulatedCdpManager": {Whose.ALLOWED: ("cdpAllow", "flux", "frob", "move"), Whose.ANYBODY: ("open",)},
    "SimulatedComet": {
        Whose.DEPLOYER: ("pause",),
        Whose.OWN: ("allow", "supply", "withdraw"),
        Whose.ANYBODY: ("accrueAccount",),
    },
    "SimulatedCometRewards": {Whose.ANYBODY: ("claim", "getRewardOwed")},
    "SimulatedConvexBooster": {
        Whose.DEPLOYER: ("addPool", "addRewards", "shutdownPool"),
        Whose.PART: ("rewardClaimed", "withdrawTo"),
        Whose.OWN: ("deposit",),
        Whose.ANYBODY: ("earmarkRewards",),
    },
    "SimulatedConvexRewards": {
        Whose.PART: ("queueNewRewards", "stakeFor"),
        Whose.OWN: ("withdrawAndUnwrap",),
        Whose.ANYBODY: ("getReward",),
    },
    "SimulatedCurveGauge": {
        Whose.DEPLOYER: ("kill_me", "set_minter"),
        Whose.OWN: ("deposit", "withdraw"),
        Whose.ANYBODY: ("claimable_tokens", "user_checkpoint"),
    },
    "SimulatedCurveMinter": {Whose.OWN: ("mint",)},
    "SimulatedCurvePool": {
        Whose.DEPLOYER: ("apply_new_fee", "kill_me", "unkill_me"),
        Whose.OWN: ("add_liquidity", "exchange", "remove_liquidity", "remove_liquidity_one_coin"),
    },
    "SimulatedCurveToken": _token_and({Whose.PART: ("burnFrom", "mint", "set_minter")}),
    "SimulatedDaiJoin": _MAKER_JOIN,
    "SimulatedDelegationManager": {
        Whose.DEPLOYER: ("setPaused",),
        Whose.PART: ("increaseDelegatedShares", "slashOperatorShares"),
        Whose.OWN: ("delegateTo", "queueWithdrawals", "redelegate", "registerAsOperator"),
        Whose.ALLOWED: ("completeQueuedWithdrawal", "undelegate"),
    },
    "SimulatedEETH": _token_and({Whose.PART: ("burnShares", "mintShares")}),
    "SimulatedEtherFiAdapter": {Whose.OWN: ("depositETHForWeETH",)},
    "SimulatedEtherFiPool": {
        Whose.DEPLOYER: ("initialize", "rebase", "setPaused", "stake"),
        Whose.PART: ("burnEEthShares", "withdraw"),
        Whose.OWN: ("deposit", "requestWithdraw"),
        Whose.ANYBODY: ("receive",),
    },
    "SimulatedEtherFiRedemption": {Whose.DEPLOYER: ("configure",), Whose.OWN: ("redeemWeEth",)},
    "SimulatedEtherFiWithdrawals": {
        Whose.DEPLOYER: ("finalizeRequests", "invalidateRequest"),
        Whose.PART: ("requestWithdraw",),
        Whose.OWN: ("setApprovalForAll",),
        Whose.ALLOWED: ("approve", "claimWithdraw", "transferFrom"),
    },
    "SimulatedFeed": {Whose.DEPLOYER: ("setAnswer", "setUpdatedAt")},
    "SimulatedFirepit": {Whose.OWN: ("release",)},
    "SimulatedGasPriceOracle": {Whose.DEPLOYER: ("setPrices",)},
    "SimulatedGemJoin": _MAKER_JOIN,
    "SimulatedGetCdps": {},
    "SimulatedHashConsensus": {Whose.DEPLOYER: ("setFrameConfig",), Whose.OWN: ("submitReport",)},
    "SimulatedIdentityRegistry": {
        Whose.OWN: ("register", "setApprovalForAll"),
        Whose.ALLOWED: (
            *("approve", "safeTransferFrom", "setAgentURI", "setAgentWallet", "setMetadata", "transferFrom"),
            "unsetAgentWallet",
        ),
    },
    "SimulatedJug": {Whose.DEPLOYER: ("deny", "file", "init", "rely", "start"), Whose.ANYBODY: ("drip",)},
    "SimulatedKelpDeposits": {Whose.DEPLOYER: ("configure",), Whose.OWN: ("depositETH",)},
    "SimulatedKelpOracle": {Whose.DEPLOYER: ("setPrice",)},
    "SimulatedKelpWithdrawals": {
        Whose.DEPLOYER: ("configure", "stake", "unlockQueue"),
        Whose.OWN: ("completeWithdrawal", "initiateWithdrawal", "instantWithdrawal"),
        Whose.ANYBODY: ("receive",),
    },
    "SimulatedMoonwellComptroller": {
        Whose.DEPLOYER: ("pause", "setRewards", "supportMarket"),
        Whose.PART: ("noteBorrower", "touch"),
        Whose.OWN: ("enterMarkets", "exitMarket"),
        Whose.ANYBODY: ("claimReward",),
    },
    "SimulatedMoonwellMarket": _token_and(
        {
            Whose.PART: ("receive",),
            Whose.OWN: ("borrow", "mint", "redeem", "redeemUnderlying", "repayBorrow"),
            Whose.ANYBODY: ("accrueInterest", "borrowBalanceCurrent", "exchangeRateCurrent"),
        }
    ),
    "SimulatedMoonwellOracle": {Whose.DEPLOYER: ("setFeed",)},
    "SimulatedMoonwellRewards": {
        Whose.DEPLOYER: ("setSpeed",),
        Whose.PART: ("disburse", "note"),
    },
    "SimulatedPendleGauges": {Whose.DEPLOYER: ("setMarket",), Whose.OWN: ("redeemMarketReward",)},
    "SimulatedPendleYield": _token_and(
        {Whose.DEPLOYER: ("pause", "setEarnings", "unpause"), Whose.OWN: ("deposit", "redeem")}
    ),
    "SimulatedPip": {},
    "SimulatedRenzoManager": {
        Whose.DEPLOYER: ("configure", "earn", "initialize"),
        Whose.PART: ("paidOut",),
        Whose.OWN: ("depositETH",),
    },
    "SimulatedRenzoQueue": {
        Whose.DEPLOYER: ("configure", "pauseDeposits", "stake"),
        Whose.OWN: ("withdraw",),
        Whose.ANYBODY: ("claim", "fillEthWithdrawBuffer"),
    },
    "SimulatedReputationRegistry": {
        Whose.DEPLOYER: ("initialize",),
        Whose.OWN: ("revokeFeedback",),
        Whose.ANYBODY: ("appendResponse", "giveFeedback"),
    },
    "SimulatedRestakedToken": _token_and({Whose.DEPLOYER: ("setIssuer",), Whose.PART: ("burnFrom", "mint")}),
    "SimulatedRocketDepositPool": {
        Whose.DEPLOYER: ("assignDeposits", "setSettings"),
        Whose.PART: ("withdrawExcessBalance",),
        Whose.OWN: ("deposit",),
    },
    "SimulatedRocketEther": _token_and(
        {
            Whose.DEPLOYER: ("initialize", "submitBalances"),
            Whose.PART: ("mint",),
            Whose.OWN: ("burn",),
            Whose.ANYBODY: ("depositExcess", "receive"),
        }
    ),
    "SimulatedRocketNodes": {Whose.DEPLOYER: ("register",)},
    "SimulatedRocketStorage": {Whose.DEPLOYER: ("setAddress",)},
    "SimulatedSpotter": {Whose.DEPLOYER: ("deny", "file", "rely"), Whose.ANYBODY: ("poke",)},
    "SimulatedStakedEther": _token_and(
        {
            Whose.DEPLOYER: ("initialize", "pauseStaking", "resumeStaking", "setStakingLimit"),
            Whose.PART: ("finalizeRequests", "rebase"),
            Whose.OWN: ("receive", "submit"),
        }
    ),
    "SimulatedStakedUsde": _token_and(
        {
            Whose.DEPLOYER: ("lose", "restrict", "setCooldownDuration", "transferInRewards"),
            Whose.OWN: ("cooldownAssets", "cooldownShares", "deposit", "unstake"),
            Whose.ALLOWED: ("redeem", "withdraw"),
        }
    ),
    "SimulatedStrategy": {Whose.DEPLOYER: ("setPaused",), Whose.PART: ("deposit", "withdraw")},
    "SimulatedStrategyManager": {
        Whose.DEPLOYER: ("setDelegation", "setPaused", "setWhitelisted"),
        Whose.PART: ("addShares", "removeDepositShares", "withdrawSharesAsTokens"),
        Whose.OWN: ("depositIntoStrategy",),
    },
    "SimulatedToken": _LOCAL_TOKEN,
    "SimulatedTokenJar": {Whose.DEPLOYER: ("setReleaser",), Whose.PART: ("release",), Whose.ANYBODY: ("receive",)},
    "SimulatedTwamm": {Whose.OWN: ("submit",), Whose.ALLOWED: ("close",), Whose.ANYBODY: ("fill",)},
    "SimulatedUrnHandler": {},
    "SimulatedUsdeSilo": {Whose.PART: ("withdraw",)},
    "SimulatedValidationRegistry": {
        Whose.DEPLOYER: ("initialize",),
        Whose.ALLOWED: ("validationRequest", "validationResponse"),
    },
    "SimulatedVat": {
        Whose.DEPLOYER: ("cage", "deny", "file", "fold", "init", "rely", "slip"),
        Whose.OWN: ("hope", "nope"),
        Whose.ALLOWED: ("flux", "frob", "move"),
    },
    "SimulatedWeETH": _token_and({Whose.OWN: ("unwrap", "wrap")}),
    "SimulatedWithdrawalQueue": {
        Whose.DEPLOYER: ("pauseFor",),
        Whose.PART: ("finalize",),
        Whose.OWN: ("requestWithdrawals", "requestWithdrawalsWstETH", "setApprovalForAll"),
        Whose.ALLOWED: ("approve", "claimWithdrawals", "claimWithdrawalsTo", "safeTransferFrom", "transferFrom"),
    },
    "SimulatedWrappedStakedEther": _token_and({Whose.OWN: ("unwrap", "wrap")}),
    "SimulatedX402ExactProxy": {Whose.ANYBODY: ("settle",)},
    "SimulatedX402UptoProxy": {Whose.ALLOWED: ("settle",)},
    "SimulatedYearnVault": _token_and(
        {
            Whose.DEPLOYER: ("process_report", "set_deposit_limit", "shutdown_vault", "suffer", "update_debt"),
            Whose.OWN: ("deposit",),
            Whose.ALLOWED: ("redeem",),
        }
    ),
}
"""What changes something in a contract that stands for a protocol's on the local chain, by whose word it takes."""

FOR_TESTS: Final = frozenset(
    {
        *(
            "AllowingGuard",
            "CageWatcher",
            "MadeUpComet",
            "ForgetfulAccount",
            "FragileToken",
            "FuzzVenue",
        ),
        *("GasBurner", "HookedToken", "HostileValuer", "LyingFeed", "MadeUpBank", "MadeUpBankValuer", "MadeUpKeeper"),
        "MadeUpBridge",
        "MadeUpRequestVault",
        *("MadeUpBond", "MadeUpBondValuer", "MadeUpGauge"),
        "MoodyEcho",
        *(
            "MoodyToken",
            "Phoenix",
            "RebasingToken",
            "Relayer",
            "Reverter",
            "SafeDelegator",
            "TrapToken",
        ),
        *("BaseFeeTrapToken", "MarketToken", "LateTrapToken"),
    }
)
"""Tools of tests, which stand on no chain but a test's own, and which nothing of value is ever given to."""

DOORS: Final[Mapping[str, str]] = {
    "plainly": "a stranger's key: the stranger",
    "multicall": "a contract that calls for whoever asks (Multicall3): that contract",
    "fallback": "a Safe whose fallback handler it is: the Safe, and the stranger in the last 20 bytes",
    "delegate call": "a stranger's contract that runs its code as its own: the stranger, on the stranger's own storage",
    "7702": "a key that runs a contract's code (EIP-7702), also as the target of its own call: that key",
    "module": "a module of the Safe: the Safe; whoever is one speaks for the account",
    "operation": "a stranger's account, for which the EntryPoint (ERC-4337) carries out an operation: that account",
    "made account": "the EntryPoint has an account made, by a call that a stranger wrote: the EntryPoint's maker",
}


STRANGERS: Final[Mapping[str, str]] = {
    "plainly": "the stranger's key",
    "made-up sender": "the stranger's key, and whom it should be in the last 20 bytes",
    "multicall": "a contract that calls for whoever asks",
    "7702": "a key that runs a contract's code",
    "fallback": "the stranger's Safe, whose fallback handler it is, with a made-up sender at the end",
    "holder's fallback": "the holder's own Safe, which does not know the call",
    "delegate call": "a contract of the stranger's that runs the code as its own",
    "module": "a module of the stranger's Safe",
    "module's delegate call": "the stranger's Safe, which runs the code as its own",
    "operation": "an account of the stranger's, for which the EntryPoint carries out an operation",
}
"""How a stranger comes to a simulated contract in which an honest Safe holds something."""


def say_of_stranger(whose: Whose, door: str) -> str:
    """What comes of a stranger's word at a simulated contract, for what an honest Safe holds there."""
    if door in ("holder's fallback", "delegate call", "module's delegate call"):
        return "at most as for anybody" if whose is Whose.ANYBODY else "nothing"
    if whose in (Whose.DEPLOYER, Whose.PART, Whose.ALLOWED):
        return "refused"
    return "as for anybody" if whose is Whose.ANYBODY else "nothing; it is over the stranger's own"


def list_cells() -> list[tuple[Row, str]]:
    """Every function behind every door."""
    return [(row, door) for row in ROWS for door in DOORS]


def say_cell(row: Row, door: str) -> str:
    """What comes of a stranger's call through a door, or of a module's."""
    if row.caller is Caller.ANYBODY:
        if door == "made account":
            return "undone: no account was made"
        if door == "delegate call":
            return "nothing of the account"
        as_the_account = {"fallback": "as for the account: never a handler (0351)", "module": "as for the account"}
        return as_the_account.get(door, "as for anybody") if row == NOTE else "as for anybody"
    if row.caller is Caller.NOBODY:
        return "nothing of the cage"
    if door == "module":
        return {
            Caller.SESSION: "refused",
            Caller.THE_LENDER: "refused but for what was announced",
            Caller.WHO_ANNOUNCED: "the account's word",
        }.get(row.caller, "the account's word")
    if door == "fallback" and row.caller in (Caller.ACCOUNT, Caller.STOPPER):
        return "believed: never a handler (0351)"
    if door == "delegate call":
        return "nothing of the account"
    return "refused"


def render() -> str:
    """The page."""
    lines = [
        "# Our contracts, function by function and door by door",
        "",
        "Written by `.venv/bin/python -m tests.contracts.callers` from the table that the tests attack;",
        "a test compares. Tools of tests are left out: nothing of value is given to them. What stands for a protocol's",
        "contract on the local chain alone has a table of its own below.",
        "",
        "What `msg.sender` is behind each door:",
        "",
        *(f"- **{name}**: {words}" for name, words in DOORS.items()),
        "",
        "| contract | function | whose word it takes | what it does | " + " | ".join(DOORS) + " |",
        "| --- | --- | --- | --- |" + " --- |" * len(DOORS),
    ]
    for row in ROWS:
        cells = " | ".join(say_cell(row, door) for door in DOORS)
        lines.append(f"| {row.contract} | `{row.function}` | {row.caller.value} | {row.trusts} | {cells} |")
    lines += [
        "",
        "What changes nothing, whoever calls:",
        "",
        *(f"- {name}: {', '.join(f'`{each}`' for each in views)}" for name, views in VIEWS.items()),
        "",
        "## Simulated contracts",
        "",
        "They stand for protocols on the local chain, and nothing of value is given to them elsewhere. Whose word:",
        "",
        *(f"- **{whose.name.lower()}**: {whose.value}" for whose in Whose),
        "",
        "One that a Safe makes its fallback handler takes a stranger for the Safe, as every token and venue would:",
        "none is ever to be one. What comes of a stranger's word for an honest Safe that holds something there, each",
        "function with the Safe's own numbers and to the stranger's good:",
        "",
        "| the stranger comes | " + " | ".join(whose.name.lower() for whose in Whose) + " |",
        "| --- |" + " --- |" * len(Whose),
        *(
            f"| {door}: {words} | " + " | ".join(say_of_stranger(whose, door) for whose in Whose) + " |"
            for door, words in STRANGERS.items()
        ),
        "",
        "| contract | " + " | ".join(whose.name.lower() for whose in Whose) + " |",
        "| --- |" + " --- |" * len(Whose),
        *(
            f"| {name} | "
            + " | ".join(", ".join(f"`{each}`" for each in sorted(taken.get(whose, ()))) for whose in Whose)
            + " |"
            for name, taken in SIMULATED.items()
        ),
        "",
        "## Handlers",
        "",
        "A cage that owners make their Safe's fallback handler believes strangers. It is never to be one;",
        "one that is, is told to its owners and closed",
        "([0351](decisions/0351-safe-that-stands-open-to-strangers-told-and-owners.md)).",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    from golem_project.embedded.paths import CHECKOUT

    (CHECKOUT / "docs" / "contracts-by-caller.md").write_text(render(), encoding="utf-8")
