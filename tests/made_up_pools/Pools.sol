// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IPooledToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IMadeUpHook {
    function onTrade(bytes32 id, uint256 amountOut) external returns (uint256 kept);
}

/// @title A simulated contract: a manager in which all pools are, each named by 32 bytes and with a hook, for tests
/// @notice Two tokens for each other at constant product, without a fee. A pool's hook is told of each trade and says
/// how much of what comes out it keeps.
contract MadeUpPools {
    struct Key {
        address token0;
        address token1;
        address hook;
    }

    struct State {
        uint128 reserve0;
        uint128 reserve1;
    }

    mapping(bytes32 id => Key) public keys;
    mapping(bytes32 id => State) public states;

    event Made(bytes32 indexed id, address indexed token0, address indexed token1, address hook);
    event Traded(
        bytes32 indexed id, address indexed trader, uint256 in0, uint256 in1, uint256 reserve0, uint256 reserve1
    );

    error TooLittle(uint256 least, uint256 got);

    function idOf(address token0, address token1, address hook) public pure returns (bytes32) {
        return keccak256(abi.encode(token0, token1, hook));
    }

    /// @notice Make a pool of what the manager was sent before.
    function make(address token0, address token1, address hook, uint128 amount0, uint128 amount1)
        external
        returns (bytes32 id)
    {
        id = idOf(token0, token1, hook);
        keys[id] = Key(token0, token1, hook);
        states[id] = State(amount0, amount1);
        emit Made(id, token0, token1, hook);
    }

    function quote(bytes32 id, bool zeroForOne, uint256 amount) public view returns (uint256) {
        State memory now_ = states[id];
        (uint256 into, uint256 out) =
            zeroForOne ? (now_.reserve0, now_.reserve1) : (now_.reserve1, now_.reserve0);
        return out * amount / (into + amount);
    }

    function trade(bytes32 id, bool zeroForOne, uint256 amount, uint256 least) external {
        Key memory key = keys[id];
        uint256 out = quote(id, zeroForOne, amount);
        (address sold, address bought) = zeroForOne ? (key.token0, key.token1) : (key.token1, key.token0);
        require(IPooledToken(sold).transferFrom(msg.sender, address(this), amount));
        State storage now_ = states[id];
        if (zeroForOne) {
            now_.reserve0 += uint128(amount);
            now_.reserve1 -= uint128(out);
        } else {
            now_.reserve1 += uint128(amount);
            now_.reserve0 -= uint128(out);
        }
        emit Traded(
            id, msg.sender, zeroForOne ? amount : 0, zeroForOne ? 0 : amount, now_.reserve0, now_.reserve1
        );
        uint256 kept = key.hook == address(0) ? 0 : IMadeUpHook(key.hook).onTrade(id, out);
        if (out - kept < least) revert TooLittle(least, out - kept);
        require(IPooledToken(bought).transfer(msg.sender, out - kept));
    }
}


/// @title A simulated contract: the hook of a made-up pool, which keeps as much of a trade as it is told to, for tests
contract MadeUpHook {
    uint256 public keptBps;
    uint256 public trades;

    function setKept(uint256 bps) external {
        keptBps = bps;
    }

    function onTrade(bytes32, uint256 amountOut) external returns (uint256 kept) {
        trades += 1;
        return amountOut * keptBps / 10_000;
    }
}
