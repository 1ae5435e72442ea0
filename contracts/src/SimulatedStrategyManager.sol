// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IManagedStrategy {
    function deposit(address token, uint256 amount) external returns (uint256);
    function withdraw(address recipient, address token, uint256 amountShares) external returns (uint256);
}

interface IDepositToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IDelegationOfDeposits {
    function increaseDelegatedShares(address staker, address strategy, uint256 previous, uint256 added) external;
}

/// @title Simulated register of deposits for restaking
/// @notice Stands in on the local chain (31337) for the contract that has these functions on a public network. Shares
/// written here are deposits: a slash makes less of them withdrawable and leaves their number.
contract SimulatedStrategyManager {
    uint256 private constant DEPOSITS = 1;

    address public immutable admin;
    address public delegation;
    uint256 public paused;
    mapping(address strategy => bool) public strategyIsWhitelistedForDeposit;
    mapping(address staker => mapping(address strategy => uint256)) public stakerDepositShares;
    mapping(address staker => address[]) private _strategiesOf;

    event Deposit(address staker, address strategy, uint256 shares);

    error CurrentlyPaused();
    error OnlyDelegationManager();
    error StrategyNotWhitelisted();
    error SharesAmountTooHigh();
    error NotAdmin(address sender);

    constructor() {
        admin = msg.sender;
    }

    modifier onlyAdmin() {
        if (msg.sender != admin) revert NotAdmin(msg.sender);
        _;
    }

    modifier onlyDelegation() {
        if (msg.sender != delegation) revert OnlyDelegationManager();
        _;
    }

    function setDelegation(address manager) external onlyAdmin {
        delegation = manager;
    }

    function setPaused(uint256 flags) external onlyAdmin {
        paused = flags;
    }

    function setWhitelisted(address strategy, bool allowed) external onlyAdmin {
        strategyIsWhitelistedForDeposit[strategy] = allowed;
    }

    function depositIntoStrategy(address strategy, address token, uint256 amount)
        external
        returns (uint256 depositShares)
    {
        if (paused & DEPOSITS != 0) revert CurrentlyPaused();
        if (!strategyIsWhitelistedForDeposit[strategy]) revert StrategyNotWhitelisted();
        require(IDepositToken(token).transferFrom(msg.sender, strategy, amount), "transfer failed");
        depositShares = IManagedStrategy(strategy).deposit(token, amount);
        uint256 previous = _add(msg.sender, strategy, depositShares);
        IDelegationOfDeposits(delegation).increaseDelegatedShares(msg.sender, strategy, previous, depositShares);
    }

    function addShares(address staker, address strategy, uint256 shares)
        external
        onlyDelegation
        returns (uint256 previous)
    {
        return _add(staker, strategy, shares);
    }

    function removeDepositShares(address staker, address strategy, uint256 shares) external onlyDelegation {
        uint256 held = stakerDepositShares[staker][strategy];
        if (shares > held) revert SharesAmountTooHigh();
        stakerDepositShares[staker][strategy] = held - shares;
        if (held != shares) return;
        address[] storage list = _strategiesOf[staker];
        for (uint256 i; i < list.length; ++i) {
            if (list[i] == strategy) {
                list[i] = list[list.length - 1];
                list.pop();
                return;
            }
        }
    }

    function withdrawSharesAsTokens(address staker, address strategy, address token, uint256 shares)
        external
        onlyDelegation
    {
        IManagedStrategy(strategy).withdraw(staker, token, shares);
    }

    function getDeposits(address staker) external view returns (address[] memory strategies, uint256[] memory shares) {
        strategies = _strategiesOf[staker];
        shares = new uint256[](strategies.length);
        for (uint256 i; i < strategies.length; ++i) shares[i] = stakerDepositShares[staker][strategies[i]];
    }

    function _add(address staker, address strategy, uint256 shares) private returns (uint256 previous) {
        previous = stakerDepositShares[staker][strategy];
        if (previous == 0 && shares != 0) _strategiesOf[staker].push(strategy);
        stakerDepositShares[staker][strategy] = previous + shares;
        emit Deposit(staker, strategy, shares);
    }
}
