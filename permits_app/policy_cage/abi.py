"""Signatures of PolicyCage, generated from its compiled output; not to be edited.

`python -m golem_project.embedded.world bindings` writes this file, and a test compares it with the contract.
"""

from __future__ import annotations

from typing import Final

CONSTRUCTOR: Final = "constructor(address account_, address baseAsset_, uint256[] initial)"

FUNCTIONS: Final[dict[str, str]] = {
    "GRACE_SECONDS": "function GRACE_SECONDS() view returns (uint256)",
    "VERSION": "function VERSION() view returns (uint256)",
    "account": "function account() view returns (address)",
    "acknowledgeDrawdown": "function acknowledgeDrawdown()",
    "applyChange": "function applyChange(uint8 kind, bytes32 key)",
    "appoint": "function appoint(uint256 role, address key, uint64 expiresAt, uint32 operations, uint256 budget)",
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
        "uint256[] largest, uint256[] newest, int256 total, uint256[] covers, int256[] exposures, uint256[] held, "
        "uint256[] frozen))"
    ),
    "notePrices": "function notePrices()",
    "payOut": "function payOut(uint256 recipient, address asset, uint256 amount)",
    "pending": (
        "function pending(uint8 kind, bytes32 key) view returns (uint256 value, uint256 base, uint64 readyAt, uint64 "
        "bundle)"
    ),
    "positions": "function positions() view returns (address[])",
    "priceOf": "function priceOf(address asset) view returns (uint256 answer, uint256 unit)",
    "propose": "function propose((uint8 kind, bytes32 key, uint256 value)[] changes)",
    "purseOf": "function purseOf(uint8 kind, bytes32 key) view returns (uint192 used, uint64 at)",
    "recordDrawdown": "function recordDrawdown()",
    "resume": "function resume()",
    "rules": "function rules(uint8 kind, bytes32 key) view returns (uint256 value)",
    "rulesDigest": "function rulesDigest() view returns (bytes32)",
    "seenPrices": "function seenPrices() view returns (uint256)",
    "session": (
        "function session() view returns (address key, uint64 expiresAt, uint32 operationsLeft, uint256 budgetLeft)"
    ),
    "sessionOf": (
        "function sessionOf(uint256 role) view returns (address key, uint64 expiresAt, uint32 operationsLeft, uint256 "
        "budgetLeft)"
    ),
    "setSession": "function setSession(address key, uint64 expiresAt, uint32 operations, uint256 budget)",
    "spent": "function spent(address what) view returns (uint256)",
    "topUpGas": "function topUpGas(uint256 amount)",
    "worsenPhase": "function worsenPhase(uint256 phase)",
}

EVENTS: Final[dict[str, str]] = {
    "AllowanceUsed": "event AllowanceUsed(uint8 indexed kind, bytes32 indexed key, uint192 used, uint64 at)",
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
    "PaidOut": (
        "event PaidOut(address indexed key, address indexed recipient, address indexed asset, uint256 amount, uint256 "
        "worth, uint32 operationsLeft, uint256 budgetLeft)"
    ),
    "PricesNoted": "event PricesNoted(address indexed by, uint256 word, uint256 settledAt)",
    "Resumed": "event Resumed()",
    "RuleChanged": "event RuleChanged(uint8 indexed kind, bytes32 indexed key, uint256 from, uint256 to)",
    "SessionSet": (
        "event SessionSet(address indexed key, uint64 expiresAt, uint32 operations, uint256 budget, uint256 role)"
    ),
}

ERRORS: Final[dict[str, str]] = {
    "AccountActed": "error AccountActed(uint256 observed, uint256 expected)",
    "AccountIsNoContract": "error AccountIsNoContract(address account)",
    "AllowanceTooLarge": "error AllowanceTooLarge(uint256 observed, uint256 allowed)",
    "AllowanceTooLong": "error AllowanceTooLong(uint256 observed, uint256 allowed)",
    "AllowanceUsedUp": "error AllowanceUsedUp(uint8 kind, bytes32 key, uint256 observed, uint256 allowed)",
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
    "KeyHasRole": "error KeyHasRole(address key)",
    "KeyIsOwner": "error KeyIsOwner(address key)",
    "LossInWindowTooLarge": "error LossInWindowTooLarge(uint256 observed, uint256 allowed)",
    "LossTooLarge": "error LossTooLarge(uint256 observed, uint256 allowed)",
    "MayNotGrow": "error MayNotGrow(address target, uint256 observed, uint256 allowed)",
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
    "PayoutNotMade": "error PayoutNotMade(uint256 observed, uint256 asked)",
    "PhaseForbids": "error PhaseForbids(uint256 phase, uint8 batchClass)",
    "PooledInWindowTooLarge": "error PooledInWindowTooLarge(uint256 observed, uint256 allowed)",
    "PositionTooLarge": "error PositionTooLarge(address target, uint256 observed, uint256 allowed)",
    "PriceJumped": "error PriceJumped(address asset)",
    "PriceStale": "error PriceStale(address asset, uint256 observed, uint256 allowed)",
    "PriceUnusable": "error PriceUnusable(address asset, int256 answer, uint256 updatedAt)",
    "PricesNotSettled": "error PricesNotSettled(uint256 time, uint256 settledAt)",
    "RebalanceTooSoon": "error RebalanceTooSoon(uint256 observed, uint256 allowed)",
    "RecipientUnknown": "error RecipientUnknown(uint256 recipient)",
    "Reentered": "error Reentered()",
    "RoleMayNotCall": "error RoleMayNotCall(uint256 role, address target, bytes4 selector)",
    "RoleUnknown": "error RoleUnknown(uint256 role)",
    "RuleMoved": "error RuleMoved(uint256 observed, uint256 expected)",
    "SelectorForbidden": "error SelectorForbidden(bytes4 selector)",
    "SequencerNotUp": "error SequencerNotUp(int256 answer, uint256 startedAt)",
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
        "0x0af4dcacea3abf423ad7dabfe687476ac05e734e48a660689da860a6aea73294",
        (
            (673, 32),
            (882, 32),
            (1271, 32),
            (1335, 32),
            (1482, 32),
            (1701, 32),
            (1896, 32),
            (2132, 32),
            (2978, 32),
            (3044, 32),
            (3322, 32),
            (4416, 32),
            (4473, 32),
            (5849, 32),
            (6485, 32),
            (7284, 32),
            (7613, 32),
            (9069, 32),
            (10130, 32),
            (10284, 32),
            (11534, 32),
            (13144, 32),
            (14405, 32),
            (14631, 32),
            (14941, 32),
            (16474, 32),
            (18384, 32),
            (19949, 32),
        ),
    ),
    "CageGovernance": (
        "0xb1377b968919dac7f12a9c5d0a269129e263c882ec09ed82447e3e820d9f7bd1",
        (
            (153, 32),
            (332, 32),
            (481, 32),
            (890, 32),
            (2966, 32),
            (3095, 32),
            (3828, 32),
            (9227, 32),
            (10133, 32),
        ),
    ),
    "CageGate": (
        "0x72b6300003026ccb1aa19e1a2d9025f4f63a93be637a51c8d95c249db8fb287c",
        (
            (112, 32),
            (205, 32),
            (687, 32),
            (953, 32),
            (2901, 32),
            (5846, 32),
            (8738, 32),
        ),
    ),
}
