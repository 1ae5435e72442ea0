// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {ICurveCoin, PlainTransfers, SimulatedCurveGauge, SimulatedCurveMinter} from "./SimulatedCurve.sol";

/// @title Simulated deposit contract of Convex: LP tokens go into the gauge for all, and into a place for each
/// @notice Stands in on the local chain (31337) for the Booster at 0xF403C135812408BFbE8713b5A23a04b3D48AAE31. What its
/// own token would be is paid out of what it was given, because none with a price is there.
contract SimulatedConvexBooster is PlainTransfers {
    struct PoolInfo {
        address lptoken;
        address token;
        address gauge;
        address crvRewards;
        address stash;
        bool shutdown;
    }

    address public immutable owner;
    address public immutable minter;
    address public immutable cvx;
    bool public isShutdown;
    PoolInfo[] private pools;

    event Deposited(address indexed user, uint256 indexed poolid, uint256 amount);
    event Withdrawn(address indexed user, uint256 indexed poolid, uint256 amount);

    constructor(address minter_, address cvx_) {
        (owner, minter, cvx) = (msg.sender, minter_, cvx_);
    }

    function addPool(address lp, address gauge, address rewards) external {
        require(msg.sender == owner, "only the owner");
        pools.push(PoolInfo(lp, address(0), gauge, rewards, address(0), false));
        _approve(lp, gauge);
    }

    /// @notice The LP tokens come out of the gauge and lie here; nothing more is taken.
    function shutdownPool(uint256 pid) external {
        require(msg.sender == owner, "only the owner");
        PoolInfo storage pool = pools[pid];
        SimulatedCurveGauge(pool.gauge).withdraw(ICurveCoin(pool.gauge).balanceOf(address(this)));
        pool.shutdown = true;
    }

    function poolLength() external view returns (uint256) {
        return pools.length;
    }

    function poolInfo(uint256 pid) external view returns (PoolInfo memory) {
        return pools[pid];
    }

    /// @dev Deposit tokens of their own are not given out here: what is not staked at once is refused.
    function deposit(uint256 pid, uint256 amount, bool stake) external returns (bool) {
        require(!isShutdown && !pools[pid].shutdown, "pool is closed");
        require(stake, "only staked");
        PoolInfo memory pool = pools[pid];
        _take(pool.lptoken, msg.sender, amount);
        SimulatedCurveGauge(pool.gauge).deposit(amount);
        SimulatedConvexRewards(pool.crvRewards).stakeFor(msg.sender, amount);
        emit Deposited(msg.sender, pid, amount);
        return true;
    }

    /// @notice What the gauge owes goes to who staked, over the next seven days.
    function earmarkRewards(uint256 pid) external returns (bool) {
        PoolInfo memory pool = pools[pid];
        address crv = SimulatedCurveMinter(minter).token();
        uint256 before = ICurveCoin(crv).balanceOf(address(this));
        SimulatedCurveMinter(minter).mint(pool.gauge);
        uint256 came = ICurveCoin(crv).balanceOf(address(this)) - before;
        if (came == 0) return true;
        _give(crv, pool.crvRewards, came);
        SimulatedConvexRewards(pool.crvRewards).queueNewRewards(came);
        return true;
    }

    /// @notice So much of the gauge's reward goes to who staked, over the next seven days.
    function addRewards(uint256 pid, uint256 amount) external {
        require(msg.sender == owner, "only the owner");
        _take(SimulatedCurveMinter(minter).token(), msg.sender, amount);
        _give(SimulatedCurveMinter(minter).token(), pools[pid].crvRewards, amount);
        SimulatedConvexRewards(pools[pid].crvRewards).queueNewRewards(amount);
    }

    function withdrawTo(uint256 pid, uint256 amount, address to) external returns (bool) {
        PoolInfo memory pool = pools[pid];
        require(msg.sender == pool.crvRewards, "only the place of rewards");
        if (!pool.shutdown) SimulatedCurveGauge(pool.gauge).withdraw(amount);
        _give(pool.lptoken, to, amount);
        emit Withdrawn(to, pid, amount);
        return true;
    }

    /// @dev Half as many whole tokens as were paid of the gauge's reward; on Ethereum fewer the more there are.
    function rewardClaimed(uint256 pid, address account, uint256 amount) external returns (bool) {
        require(msg.sender == pools[pid].crvRewards, "only the place of rewards");
        uint256 part = amount * 1e10 / 2;
        uint256 there = ICurveCoin(cvx).balanceOf(address(this));
        if (part > there) part = there;
        if (part != 0) _give(cvx, account, part);
        return true;
    }

    function _approve(address token, address spender) private {
        (bool isOk,) = token.call(abi.encodeWithSignature("approve(address,uint256)", spender, type(uint256).max));
        require(isOk, "not approved");
    }
}

/// @title Simulated place of rewards of Convex, with the functions of its BaseRewardPool
/// @notice Stands in on the local chain (31337). Rewards are paid over seven days; anybody may have anybody's paid out.
/// What comes within a week begins another only where it is more than was paid, so that nobody stretches one with little.
contract SimulatedConvexRewards is PlainTransfers {
    uint256 public constant duration = 7 days;
    /// @dev Of a thousand parts: while more than this part of what comes anew was paid since the week began, it waits.
    uint256 public constant newRewardRatio = 830;
    uint256 private constant PARTS = 1e36;

    uint256 public immutable pid;
    address public immutable operator;
    address public immutable rewardToken;
    uint256 public periodFinish;
    /// @notice Base units of the reward a second.
    uint256 public rewardRate;
    uint256 public lastUpdateTime;
    uint256 public totalSupply;
    /// @notice What came and waits for the next week.
    uint256 public queuedRewards;
    uint256 private stored;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => uint256) private seen;
    mapping(address account => uint256) private due;

    event Staked(address indexed user, uint256 amount);
    event Withdrawn(address indexed user, uint256 amount);
    event RewardPaid(address indexed user, uint256 reward);

    constructor(uint256 pid_, address operator_, address rewardToken_) {
        (pid, operator, rewardToken) = (pid_, operator_, rewardToken_);
    }

    function extraRewardsLength() external pure returns (uint256) {
        return 0;
    }

    function earned(address account) public view returns (uint256) {
        return due[account] + balanceOf[account] * (_perShare() - seen[account]) / PARTS;
    }

    function stakeFor(address account, uint256 amount) external returns (bool) {
        require(msg.sender == operator, "only the operator");
        _update(account);
        totalSupply += amount;
        balanceOf[account] += amount;
        emit Staked(account, amount);
        return true;
    }

    function withdrawAndUnwrap(uint256 amount, bool claim) external returns (bool) {
        _update(msg.sender);
        totalSupply -= amount;
        balanceOf[msg.sender] -= amount;
        SimulatedConvexBooster(operator).withdrawTo(pid, amount, msg.sender);
        emit Withdrawn(msg.sender, amount);
        if (claim) getReward(msg.sender, true);
        return true;
    }

    function getReward(address account, bool) public returns (bool) {
        _update(account);
        uint256 reward = due[account];
        if (reward == 0) return true;
        due[account] = 0;
        _give(rewardToken, account, reward);
        SimulatedConvexBooster(operator).rewardClaimed(pid, account, reward);
        emit RewardPaid(account, reward);
        return true;
    }

    function queueNewRewards(uint256 amount) external returns (bool) {
        require(msg.sender == operator, "only the operator");
        amount += queuedRewards;
        queuedRewards = 0;
        uint256 paid = block.timestamp < periodFinish ? rewardRate * (block.timestamp + duration - periodFinish) : 0;
        if (paid * 1000 >= newRewardRatio * amount) {
            queuedRewards = amount;
            return true;
        }
        _update(address(0));
        uint256 left = block.timestamp < periodFinish ? (periodFinish - block.timestamp) * rewardRate : 0;
        rewardRate = (amount + left) / duration;
        lastUpdateTime = block.timestamp;
        periodFinish = block.timestamp + duration;
        return true;
    }

    function _perShare() private view returns (uint256) {
        uint256 until = block.timestamp < periodFinish ? block.timestamp : periodFinish;
        if (totalSupply == 0 || until <= lastUpdateTime) return stored;
        return stored + (until - lastUpdateTime) * rewardRate * PARTS / totalSupply;
    }

    function _update(address account) private {
        stored = _perShare();
        lastUpdateTime = block.timestamp < periodFinish ? block.timestamp : periodFinish;
        due[account] = earned(account);
        seen[account] = stored;
    }
}
