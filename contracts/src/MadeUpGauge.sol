// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IGaugeToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A simulated contract: a place where a token is put in and a reward grows that nobody prices, for tests
/// @notice A second of one whole token earns `RATE` of the reward, whose contract is anybody's: it may call back in the
/// middle of being paid out. Points grow beside it, which nobody can take out. Nobody runs it.
contract MadeUpGauge {
    IGaugeToken public immutable token;
    IGaugeToken public immutable reward;
    uint256 public constant RATE = 1e15;

    mapping(address account => uint256) public staked;
    mapping(address account => uint256) private paidUp;
    mapping(address account => uint256) private since;
    bool private isIn;

    event Claimed(address indexed account, uint256 amount);

    error Busy();

    modifier alone() {
        if (isIn) revert Busy();
        isIn = true;
        _;
        isIn = false;
    }

    constructor(address token_, address reward_) {
        (token, reward) = (IGaugeToken(token_), IGaugeToken(reward_));
    }

    function deposit(uint256 amount) external alone {
        _earn(msg.sender);
        token.transferFrom(msg.sender, address(this), amount);
        staked[msg.sender] += amount;
    }

    function withdraw(uint256 amount) external alone {
        _earn(msg.sender);
        staked[msg.sender] -= amount;
        token.transfer(msg.sender, amount);
    }

    function claim() external alone {
        _earn(msg.sender);
        uint256 amount = paidUp[msg.sender];
        paidUp[msg.sender] = 0;
        reward.transfer(msg.sender, amount);
        emit Claimed(msg.sender, amount);
    }

    function earned(address account) public view returns (uint256) {
        return paidUp[account] + staked[account] * (block.timestamp - since[account]) * RATE / 1e18;
    }

    function _earn(address account) private {
        paidUp[account] = earned(account);
        since[account] = block.timestamp;
    }
}
