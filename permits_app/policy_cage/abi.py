"""Signatures of PolicyCage, generated from its compiled output; not to be edited.

`python -m golem_project.embedded.world bindings` writes this file, and a test compares it with the contract.
"""

from __future__ import annotations

from typing import Final

CONSTRUCTOR: Final = (
    "constructor(address account_, address baseAsset_, (uint8 kind, bytes32 key, uint256 value)[] initial)"
)

FUNCTIONS: Final[dict[str, str]] = {
    "GRACE_SECONDS": "function GRACE_SECONDS() view returns (uint256)",
    "MOST_ALLOWANCE_SECONDS": "function MOST_ALLOWANCE_SECONDS() view returns (uint256)",
    "MOST_CALLS": "function MOST_CALLS() view returns (uint256)",
    "MOST_CONDITIONS": "function MOST_CONDITIONS() view returns (uint256)",
    "MOST_POSITIONS": "function MOST_POSITIONS() view returns (uint256)",
    "VERSION": "function VERSION() view returns (uint256)",
    "account": "function account() view returns (address)",
    "acknowledgeDrawdown": "function acknowledgeDrawdown()",
    "applyChange": "function applyChange(uint8 kind, bytes32 key)",
    "assets": "function assets() view returns (address[])",
    "balanceOf": "function balanceOf(address asset) view returns (uint256)",
    "baseAsset": "function baseAsset() view returns (address)",
    "cancelChange": "function cancelChange(uint8 kind, bytes32 key)",
    "delayOf": "function delayOf(uint8 kind, bytes32 key, uint256 value) view returns (uint256 seconds_)",
    "execute": "function execute((address to, uint256 value, bytes data)[] calls)",
    "gate": "function gate() view returns (address)",
    "governance": "function governance() view returns (address)",
    "halt": "function halt()",
    "isDrawdownBreached": "function isDrawdownBreached() view returns (bool)",
    "isEnforced": "function isEnforced() view returns (bool)",
    "isForbidden": "function isForbidden(bytes4 selector) view returns (bool isForbidden_)",
    "isHalted": "function isHalted() view returns (bool)",
    "isPriced": "function isPriced(address asset) view returns (bool)",
    "lastRebalanceAt": "function lastRebalanceAt() view returns (uint64)",
    "measure": (
        "function measure() view returns ((uint256[] balances, uint256[] values, uint256[] gross, uint256[] debts, "
        "uint256[] largest, uint256[] newest, int256 total, uint256[] covers, int256[] exposures, uint256[] held))"
    ),
    "pending": (
        "function pending(uint8 kind, bytes32 key) view returns (uint256 value, uint256 base, uint64 readyAt, uint64 "
        "bundle)"
    ),
    "positions": "function positions() view returns (address[])",
    "priceOf": "function priceOf(address asset) view returns (uint256 answer, uint256 unit)",
    "propose": "function propose((uint8 kind, bytes32 key, uint256 value)[] changes)",
    "recordDrawdown": "function recordDrawdown()",
    "resume": "function resume()",
    "rules": "function rules(uint8 kind, bytes32 key) view returns (uint256 value)",
    "rulesDigest": "function rulesDigest() view returns (bytes32)",
    "session": (
        "function session() view returns (address key, uint64 expiresAt, uint32 operationsLeft, uint256 budgetLeft)"
    ),
    "setSession": "function setSession(address key, uint64 expiresAt, uint32 operations, uint256 budget)",
    "spent": "function spent(address what) view returns (uint256)",
    "topUpGas": "function topUpGas(uint256 amount)",
    "worsenPhase": "function worsenPhase(uint256 phase)",
}

EVENTS: Final[dict[str, str]] = {
    "BatchExecuted": (
        "event BatchExecuted(address indexed key, uint8 batchClass, uint256 moved, uint256 loss, int256 totalBefore, "
        "int256 totalAfter, uint32 operationsLeft, uint256 budgetLeft)"
    ),
    "ChangeCancelled": "event ChangeCancelled(uint8 indexed kind, bytes32 indexed key)",
    "ChangeProposed": (
        "event ChangeProposed(uint8 indexed kind, bytes32 indexed key, uint256 from, uint256 to, uint256 readyAt, "
        "uint64 bundle)"
    ),
    "DrawdownAcknowledged": "event DrawdownAcknowledged()",
    "DrawdownBreached": "event DrawdownBreached(int256 total, uint256 floor)",
    "GasToppedUp": "event GasToppedUp(address indexed key, uint256 amount)",
    "Halted": "event Halted(address indexed by)",
    "OutflowCounted": "event OutflowCounted(address indexed asset, uint256 amount)",
    "Resumed": "event Resumed()",
    "RuleChanged": "event RuleChanged(uint8 indexed kind, bytes32 indexed key, uint256 from, uint256 to)",
    "SessionSet": "event SessionSet(address indexed key, uint64 expiresAt, uint32 operations, uint256 budget)",
}

ERRORS: Final[dict[str, str]] = {
    "AccountActed": "error AccountActed(uint256 observed, uint256 expected)",
    "AccountIsNoContract": "error AccountIsNoContract(address account)",
    "AllowanceTooLarge": "error AllowanceTooLarge(uint256 observed, uint256 allowed)",
    "AllowanceTooLong": "error AllowanceTooLong(uint256 observed, uint256 allowed)",
    "AmountTooLarge": "error AmountTooLarge(uint256 amount)",
    "AssetNotApproved": "error AssetNotApproved(address asset)",
    "BalanceUnreadable": "error BalanceUnreadable(address asset)",
    "CageHalted": "error CageHalted()",
    "CallCount": "error CallCount(uint256 observed, uint256 allowed)",
    "CallDataMalformed": "error CallDataMalformed(bytes4 selector)",
    "CallFailed": "error CallFailed(uint256 index, bytes reason)",
    "CallNotAllowed": "error CallNotAllowed(address target, bytes4 selector)",
    "CoinNotApproved": "error CoinNotApproved(uint256 value)",
    "CollateralRatioTooLow": "error CollateralRatioTooLow(address target, uint256 observed, uint256 allowed)",
    "ConcentrationTooLarge": "error ConcentrationTooLarge(address asset, uint256 observed, uint256 allowed)",
    "ConditionNotMet": "error ConditionNotMet(address target, bytes4 selector, uint256 place)",
    "CountedTwice": "error CountedTwice(address target)",
    "CoverTooLow": "error CoverTooLow(address target, uint256 observed, uint256 allowed)",
    "DrawdownExceeded": "error DrawdownExceeded(int256 observed, uint256 allowed)",
    "DrawdownNotAcknowledged": "error DrawdownNotAcknowledged()",
    "GasTopUpTooLarge": "error GasTopUpTooLarge(uint256 observed, uint256 allowed)",
    "KeyIsOwner": "error KeyIsOwner(address key)",
    "LossInWindowTooLarge": "error LossInWindowTooLarge(uint256 observed, uint256 allowed)",
    "LossTooLarge": "error LossTooLarge(uint256 observed, uint256 allowed)",
    "MayNotHalt": "error MayNotHalt(address caller)",
    "NoHighWaterMark": "error NoHighWaterMark()",
    "NoOperationsLeft": "error NoOperationsLeft()",
    "NotHalted": "error NotHalted()",
    "NotSessionKey": "error NotSessionKey(address caller)",
    "NotTheAccount": "error NotTheAccount(address caller)",
    "NotYet": "error NotYet(uint256 time, uint256 readyAt)",
    "NothingChanges": "error NothingChanges()",
    "NothingPending": "error NothingPending()",
    "OutOfRange": "error OutOfRange(uint256 observed, uint256 allowed)",
    "OutflowInWindowTooLarge": "error OutflowInWindowTooLarge(address asset, uint256 observed, uint256 allowed)",
    "OutflowTooLarge": "error OutflowTooLarge(address asset, uint256 observed, uint256 allowed)",
    "PhaseForbids": "error PhaseForbids(uint256 phase, uint8 batchClass)",
    "PositionTooLarge": "error PositionTooLarge(address target, uint256 observed, uint256 allowed)",
    "PriceStale": "error PriceStale(address asset, uint256 observed, uint256 allowed)",
    "PriceUnusable": "error PriceUnusable(address asset, int256 answer, uint256 updatedAt)",
    "RebalanceTooSoon": "error RebalanceTooSoon(uint256 observed, uint256 allowed)",
    "Reentered": "error Reentered()",
    "RuleMoved": "error RuleMoved(uint256 observed, uint256 expected)",
    "SelectorForbidden": "error SelectorForbidden(bytes4 selector)",
    "SessionBudgetExceeded": "error SessionBudgetExceeded(uint256 observed, uint256 allowed)",
    "SessionExpired": "error SessionExpired(uint256 time, uint256 expiresAt)",
    "SessionTooLarge": "error SessionTooLarge(uint256 observed, uint256 allowed)",
    "SpenderNotAllowed": "error SpenderNotAllowed(address spender)",
    "StillHeld": "error StillHeld(address asset, uint256 balance)",
    "TargetForbidden": "error TargetForbidden(address target)",
    "TargetHasNoCode": "error TargetHasNoCode(address target)",
    "TooLate": "error TooLate(uint256 time, uint256 expiredAt)",
    "TooManyRebalances": "error TooManyRebalances(uint256 observed, uint256 allowed)",
    "ValuerFailed": "error ValuerFailed(address target)",
    "ValuerOfAnother": "error ValuerOfAnother(address target, address subject)",
}

PUBLISHED: Final[dict[str, tuple[str, tuple[tuple[int, int], ...]]]] = {
    "PolicyCage": (
        "0x0175eb8418bbd70be18a3106aa4e30a73a4bc98bc12a5da6c768b46950f5acf6",
        (
            (636, 32),
            (850, 32),
            (1092, 32),
            (1197, 32),
            (1373, 32),
            (1527, 32),
            (1637, 32),
            (1694, 32),
            (1831, 32),
            (2693, 32),
            (2759, 32),
            (3205, 32),
            (3744, 32),
            (4554, 32),
            (5131, 32),
            (6058, 32),
            (6355, 32),
            (7834, 32),
            (9066, 32),
            (9252, 32),
            (12502, 32),
            (13808, 32),
            (14034, 32),
            (14352, 32),
            (16181, 32),
            (17154, 32),
        ),
    ),
    "CageGovernance": (
        "0x838be78f4fce78fccd50fe43bb40fee169504986433eb2696405d775635bc1ad",
        (
            (142, 32),
            (557, 32),
            (869, 32),
            (2197, 32),
            (2328, 32),
            (3134, 32),
            (8043, 32),
        ),
    ),
    "CageGate": (
        "0x5450a1cda89cbd565dbc51ab7245a1b6679102bcb466e87990cc85b1803e01b7",
        (
            (90, 32),
            (162, 32),
            (383, 32),
            (2007, 32),
            (3882, 32),
            (6767, 32),
        ),
    ),
}
