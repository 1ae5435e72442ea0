// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

// The words of the cage: what a rule is, which limits there are, what may be refused and what is told.
// Values in US dollars are integers of a millionth (micro-USD); shares are in basis points (bps).

/// @dev What a rule is about. `key` is: a limit's number; an asset's address; the same; the same;
/// target << 32 | selector; a spender; a position's target; 0; target << 40 | selector << 8 | place; and of roles:
/// role << 192 | target << 32 | selector; role << 160 | asset; a recipient's number; role << 168 | number << 160 | asset;
/// and 0 for the feed that tells whether a rollup's sequencer is up.
enum Kind {
    LIMIT,
    ASSET,
    OUTFLOW_PER_BATCH,
    OUTFLOW_PER_WINDOW,
    CALL,
    SPENDER,
    VALUER,
    GUARDIAN,
    CONDITION,
    ROLE_CALL,
    ROLE_ALLOWANCE,
    RECIPIENT,
    PAYOUT,
    SEQUENCER
}

/// @dev What a batch did to the account: it only left positions, it exchanged what was not the base asset, it put more
/// into one, or both of these.
enum BatchClass {
    LEAVING,
    REBALANCE,
    OPENING,
    OPENING_AND_REBALANCE
}

struct Call {
    address to;
    uint256 value;
    bytes data;
}

struct Rule {
    Kind kind;
    bytes32 key;
    uint256 value;
}

/// @dev Loosenings proposed together wait together and are applied together; `bundle` numbers them.
struct Pending {
    uint256 value;
    uint256 base;
    uint64 readyAt;
    uint64 bundle;
}

struct RuleId {
    Kind kind;
    bytes32 key;
}

/// @dev When a rule was last loosened, and from what: its value before the first of those loosenings that followed each
/// other within two days.
struct Loosened {
    uint256 from;
    uint64 at;
}

/// @dev What of an allowance that refills was used and has not come back by `at`, when its present period began.
struct Purse {
    uint192 used;
    uint64 at;
}

struct Session {
    address key;
    uint64 expiresAt;
    uint32 operationsLeft;
    uint256 budgetLeft;
}

/// @dev What the account held at one moment; arrays follow `assets()` and `positions()`. Values in micro-USD.
/// `exposures` are base units in the wallet and in every position, less what is owed; `held` is what each position holds
/// of each asset, position by position; `covers` is what stands for a debt where it would be liquidated.
struct Measure {
    uint256[] balances;
    uint256[] values;
    uint256[] gross;
    uint256[] debts;
    uint256[] largest;
    uint256[] newest;
    int256 total;
    uint256[] covers;
    int256[] exposures;
    uint256[] held;
    uint256[] frozen;
}

uint256 constant BPS = 10_000;
uint256 constant WINDOW_SECONDS = 24 hours;
uint256 constant MICRO_USD = 1e6;
uint256 constant MOST_CALLS_OF_BATCH = 32;
uint256 constant MOST_SECONDS_OF_ALLOWANCE = 24 hours;
uint256 constant MOST_ROLES_OF_CAGE = 16;
uint256 constant MOST_RECIPIENTS = 256;
address constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
address constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

uint8 constant APPROVED = 1;
uint8 constant RETIRING = 2;

uint256 constant MAX_LOSS_BPS = 0;
uint256 constant MAX_WINDOW_LOSS_BPS = 1;
uint256 constant MAX_POSITION_BPS = 2;
uint256 constant MAX_CONCENTRATION_BPS = 3;
uint256 constant MAX_DRAWDOWN_BPS = 4;
uint256 constant MIN_COLLATERAL_RATIO_BPS = 5;
uint256 constant MIN_REBALANCE_INTERVAL = 6;
uint256 constant MAX_REBALANCES_PER_DAY = 7;
uint256 constant MAX_ASSETS = 8;
uint256 constant MAX_GAS_TOP_UP_WEI = 9;
uint256 constant ALLOWS_ARBITRARY_CALLS = 10;
uint256 constant PHASE = 11;
uint256 constant HIGH_WATER_MARK = 12;
uint256 constant MAX_SESSION_SECONDS = 13;
uint256 constant MAX_SESSION_OPERATIONS = 14;
uint256 constant MAX_SESSION_BUDGET = 15;
uint256 constant MIN_COVER_BPS = 16;
uint256 constant MIN_RANGE_TICKS = 17;
uint256 constant MAX_POOLED_PER_DAY_BPS = 18;
uint256 constant LIMIT_COUNT = 19;
/// @dev From the lowest tick of a pool to its highest.
uint256 constant MOST_RANGE_TICKS = 2 * 887_272;
/// @dev Limits of more than 32 bits, by their numbers; all others are read together.
uint256 constant LARGE_LIMITS = 1 << MAX_GAS_TOP_UP_WEI | 1 << HIGH_WATER_MARK | 1 << MAX_SESSION_BUDGET;
/// @dev Bits of one asset's price among those of the last batch: an exponent of 7 above a mantissa of 13.
uint256 constant PRICE_BITS = 20;
uint256 constant PRICE_MASK = (1 << PRICE_BITS) - 1;
/// @dev What a position may rise by without having been opened: the dearest fee of a pool, of what the batch moved.
uint256 constant DUST_BPS = 100;
uint256 constant DUST = 10_000;
/// @dev What may come out of a pool of an asset beyond what lay there by the feeds, as a multiple of that.
uint256 constant MOST_OF_PROPORTION = 4;
/// @dev In a valuer's `newest`: what is held are positions in pools, whose assets become each other by themselves.
uint256 constant MIXES = 1 << 255;
/// @dev In a leg's place of an asset: this is no part of what is held but what of it may not grow. Its amount is the
/// thing's number of at most 120 bits << 128 | how much of it there is, in the valuer's own units.
address constant FROZEN = address(1);
/// @dev Up to a dollar of an asset may be left when it goes.
uint256 constant MOST_LEFT = 1e6;

uint256 constant DEFENSIVE = 2;
uint256 constant SURVIVAL = 3;
uint256 constant TERMINAL = 4;

// Who and when.
error NotTheAccount(address caller);
error NotSessionKey(address caller);
error KeyIsOwner(address key);
error KeyHasRole(address key);
error RoleUnknown(uint256 role);
error MayNotHalt(address caller);
error CageHalted();
error NotHalted();
error Reentered();
error AccountIsNoContract(address account);
error SessionExpired(uint256 time, uint256 expiresAt);
error NoOperationsLeft();
error SessionTooLarge(uint256 observed, uint256 allowed);
error SessionBudgetExceeded(uint256 observed, uint256 allowed);

// What is called.
error CallCount(uint256 observed, uint256 allowed);
error TargetForbidden(address target);
error TargetHasNoCode(address target);
error CallNotAllowed(address target, bytes4 selector);
error SelectorForbidden(bytes4 selector);
error CallDataMalformed(bytes4 selector);
error SpenderNotAllowed(address spender);
error AllowanceTooLarge(uint256 observed, uint256 allowed);
error AllowanceTooLong(uint256 observed, uint256 allowed);
error CoinNotApproved(uint256 value);
error RoleMayNotCall(uint256 role, address target, bytes4 selector);
error CallFailed(uint256 index, bytes reason);
error ConditionNotMet(address target, bytes4 selector, uint256 place);
error AccountActed(uint256 observed, uint256 expected);

// What came of it.
error AssetNotApproved(address asset);
error OutflowTooLarge(address asset, uint256 observed, uint256 allowed);
error OutflowInWindowTooLarge(address asset, uint256 observed, uint256 allowed);
error AllowanceUsedUp(Kind kind, bytes32 key, uint256 observed, uint256 allowed);
error RecipientUnknown(uint256 recipient);
error PayoutNotMade(uint256 observed, uint256 asked);
error LossTooLarge(uint256 observed, uint256 allowed);
error LossInWindowTooLarge(uint256 observed, uint256 allowed);
error PhaseForbids(uint256 phase, BatchClass batchClass);
error NoHighWaterMark();
error DrawdownExceeded(int256 observed, uint256 allowed);
error DrawdownNotAcknowledged();
error RebalanceTooSoon(uint256 observed, uint256 allowed);
error TooManyRebalances(uint256 observed, uint256 allowed);
error PositionTooLarge(address target, uint256 observed, uint256 allowed);
error ConcentrationTooLarge(address asset, uint256 observed, uint256 allowed);
error CollateralRatioTooLow(address target, uint256 observed, uint256 allowed);
error CoverTooLow(address target, uint256 observed, uint256 allowed);
error MayNotGrow(address target, uint256 observed, uint256 allowed);
error PooledInWindowTooLarge(uint256 observed, uint256 allowed);
error GasTopUpTooLarge(uint256 observed, uint256 allowed);

// What is read.
error PriceUnusable(address asset, int256 answer, uint256 updatedAt);
error PriceJumped(address asset);
error PricesNotSettled(uint256 time, uint256 settledAt);
error SequencerNotUp(int256 answer, uint256 startedAt);
error PriceStale(address asset, uint256 observed, uint256 allowed);
error BalanceUnreadable(address asset);
error ValuerFailed(address target);

// How rules change.
error OutOfRange(uint256 observed, uint256 allowed);
error NothingChanges();
error NothingPending();
error NotYet(uint256 time, uint256 readyAt);
error TooLate(uint256 time, uint256 expiredAt);
error RuleMoved(uint256 observed, uint256 expected);
error CountedTwice(address target);
error ValuerOfAnother(address target, address subject);
error StillHeld(address asset, uint256 balance);

event RuleChanged(Kind indexed kind, bytes32 indexed key, uint256 from, uint256 to);
event ChangeProposed(
    Kind indexed kind, bytes32 indexed key, uint256 from, uint256 to, uint256 readyAt, uint64 bundle
);
event ChangeCancelled(Kind indexed kind, bytes32 indexed key);
event SessionSet(address indexed key, uint64 expiresAt, uint32 operations, uint256 budget, uint256 role);
event Halted(address indexed by);
event Resumed();
event DrawdownBreached(int256 total, uint256 floor);
event DrawdownAcknowledged();
event PricesNoted(address indexed by, uint256 word, uint256 settledAt);
event OutflowCounted(address indexed asset, uint256 amount);
event AllowanceUsed(Kind indexed kind, bytes32 indexed key, uint192 used, uint64 at);
event GasToppedUp(address indexed key, uint256 amount);
event PaidOut(
    address indexed key,
    address indexed recipient,
    address indexed asset,
    uint256 amount,
    uint256 worth,
    uint32 operationsLeft,
    uint256 budgetLeft
);
event BatchExecuted(
    address indexed key,
    BatchClass batchClass,
    uint256 moved,
    uint256 loss,
    int256 totalBefore,
    int256 totalAfter,
    uint32 operationsLeft,
    uint256 budgetLeft
);

/// @dev Whether code runs there that only a new deployment could replace: nothing at all, or an EOA that delegates to
/// some code for as long as its key likes (EIP-7702, 23 bytes), is no contract.
function isContract(address item) view returns (bool) {
    uint256 size = item.code.length;
    return size != 0 && size != 23;
}

interface ISafe {
    function execTransactionFromModuleReturnData(address to, uint256 value, bytes memory data, uint8 operation)
        external
        returns (bool success, bytes memory returnData);

    function isModuleEnabled(address module) external view returns (bool);

    function isOwner(address owner) external view returns (bool);

    function getStorageAt(uint256 offset, uint256 length) external view returns (bytes memory);

    function nonce() external view returns (uint256);
}

interface IOwned {
    function owner() external view returns (address);
}

interface IFeed {
    function decimals() external view returns (uint8);

    function latestRoundData()
        external
        view
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound);
}

interface IToken {
    function transfer(address to, uint256 amount) external;

    function balanceOf(address account) external view returns (uint256);

    function allowance(address account, address spender) external view returns (uint256);

    function decimals() external view returns (uint8);
}

interface IPermit2 {
    function allowance(address account, address token, address spender)
        external
        view
        returns (uint160 amount, uint48 expiration, uint48 nonce);
}

/// @dev What a valuer may ask its cage. value = amount * answer * 1e6 / unit, in micro-USD.
interface IPrices {
    function priceOf(address asset) external view returns (uint256 answer, uint256 unit);

    function isPriced(address asset) external view returns (bool);

    /// @return what the account has in its wallet, base units.
    function balanceOf(address asset) external view returns (uint256);

    /// @return value one number of the owner's, under its kind and key.
    function rules(Kind kind, bytes32 key) external view returns (uint256 value);
}

/// @dev A part of what is held in one place: base units of an asset, below zero when owed.
struct Leg {
    address asset;
    int256 amount;
}

/// @dev Values what an account holds in one place. Asks the prices of its caller, the cage.
interface IValuer {
    /// @return gross what is held, debt what is owed, largest the largest single position (micro-USD); newest a number
    /// that rises when another position is opened, 0 where there is only one, with the bit MIXES where they are in pools;
    /// cover what of `gross` stands for `debt` where it would be liquidated; legs what all of it is made of, as far as it
    /// has feeds, and what of it may not grow.
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs);

    /// @return the one contract whose positions this valuer counts.
    function subject() external view returns (address);
}
