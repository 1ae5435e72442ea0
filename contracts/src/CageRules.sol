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
    Session internal appointed;
    /// @dev Anything that enters here is undone with the transaction.
    bool internal transient entered;

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
        return ruleOf[Kind.LIMIT][bytes32(index)];
    }

    function _stateOf(address asset) internal view returns (uint256) {
        return ruleOf[Kind.ASSET][_keyOf(asset)] >> 208;
    }

    function _keyOf(address item) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(item)));
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
