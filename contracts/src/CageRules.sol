// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";

/// @title What the owner set
/// @notice Every rule is one number under a kind and a key. This is the storage that the cage and its parts share: a part
/// runs as the cage (`delegatecall`), so nothing may come before these lines in any of them.
abstract contract CageRules {
    /// @notice How long a change that is due may still be applied.
    uint256 internal constant GRACE = 7 days;
    uint256 internal constant POSITIONS_AT_MOST = 8;
    /// @notice The most conditions of one call.
    uint256 internal constant CONDITIONS_AT_MOST = 32;

    /// @notice The account the cage guards: a Safe, or in development a plain account, then nothing is enforced.
    address public immutable account;
    /// @notice The asset a golem retreats into.
    address public immutable baseAsset;

    mapping(Kind kind => mapping(bytes32 key => uint256 value)) internal ruleOf;
    mapping(Kind kind => mapping(bytes32 key => Pending)) internal pendingOf;
    /// @notice A chain of hashes over every change of a rule so far, for those who follow the events.
    bytes32 internal digest;
    mapping(Kind kind => mapping(bytes32 key => Loosened)) internal loosened;
    address[] internal assetList;
    address[] internal positionList;
    mapping(uint64 bundle => RuleId[]) internal bundles;
    uint64 internal bundleCount;
    bool internal halted;
    bool internal breached;
    uint64 internal rebalancedAt;
    /// @dev Role 0 is the golem's own: what the account may do, it may. Every other may only what it was given.
    mapping(uint256 role => Session) internal appointed;
    mapping(address key => uint256 role) internal roleOf;
    mapping(Kind kind => mapping(bytes32 key => Purse)) internal purses;
    /// @dev The rules of limits once more, 32 bits each, so that a batch reads eight at once.
    uint256[3] internal limits;
    /// @dev The prices of the last batch, in the order of the assets: 20 bits each, 0 where none is known; and above 200
    /// of them the time before which no batch runs, because prices that jumped were noted.
    uint256 internal lastPrices;
    /// @dev Anything that enters here is undone with the transaction.
    bool internal transient entered;
    /// @dev Whose batch this is.
    uint256 internal transient acting;

    modifier onlyAccount() {
        if (msg.sender != account) revert NotTheAccount(msg.sender);
        if (entered) revert Reentered();
        _;
    }

    constructor(address account_, address baseAsset_) {
        account = account_;
        baseAsset = baseAsset_;
    }

    function _limit(uint256 index) internal view returns (uint256) {
        if ((LARGE_LIMITS >> index) & 1 != 0) return ruleOf[Kind.LIMIT][bytes32(index)];
        return uint32(limits[index >> 3] >> ((index & 7) << 5));
    }

    function _stateOf(address asset) internal view returns (uint256) {
        return uint8(ruleOf[Kind.ASSET][_keyOf(asset)] >> 208);
    }

    function _keyOf(address item) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(item)));
    }

    /// @dev What was used of an allowance that refills, and is not yet back. One that is full begins its period when
    /// something is taken; how much comes back is bounded by what was used, however long nobody took.
    function _usedOf(Kind kind, bytes32 key, uint256 rule) internal view returns (uint256 used, uint256 at) {
        Purse storage purse = purses[kind][key];
        (used, at) = (purse.used, purse.at);
        uint256 period = rule >> 224;
        uint256 periods = period == 0 ? 0 : (block.timestamp - at) / period;
        uint256 back = periods * uint112(rule >> 112);
        if (back >= used) return (0, block.timestamp);
        return (used - back, at + periods * period);
    }

    /// @dev A rule of such an allowance: period << 224 | what comes back each period << 112 | most.
    function _use(Kind kind, bytes32 key, uint256 amount) internal {
        uint256 rule = ruleOf[kind][key];
        (uint256 used, uint256 at) = _usedOf(kind, key, rule);
        used += amount;
        if (used > uint112(rule)) revert AllowanceUsedUp(kind, key, used, uint112(rule));
        purses[kind][key] = Purse(uint192(used), uint64(at));
        emit AllowanceUsed(kind, key, uint192(used), uint64(at));
    }

    /// @dev Asked again of a session that goes on, so that tightening what one may have is true at once.
    function _checkSession(uint256 expiresAt, uint256 operations, uint256 budget) internal view {
        uint256 most = block.timestamp + _limit(MAX_SESSION_SECONDS);
        if (expiresAt > most) revert SessionTooLarge(expiresAt, most);
        most = _limit(MAX_SESSION_OPERATIONS);
        if (operations > most) revert SessionTooLarge(operations, most);
        most = _limit(MAX_SESSION_BUDGET);
        if (budget > most) revert SessionTooLarge(budget, most);
    }
}
