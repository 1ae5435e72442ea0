"""The texts of hooks to begin with: our own, under the MIT licence, audited by nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.toolkit.hooked_pools import HookText

_HEAD: Final = """// SPDX-License-Identifier: MIT
// A place to begin, audited by nobody. Compile with solc 0.8.26 or newer and @uniswap/v4-core 1.0.2.
pragma solidity ^0.8.26;

import {IPoolManager} from "@uniswap/v4-core/src/interfaces/IPoolManager.sol";
import {PoolKey} from "@uniswap/v4-core/src/types/PoolKey.sol";
"""
_COUNTER: Final = """import {BalanceDelta} from "@uniswap/v4-core/src/types/BalanceDelta.sol";

/// Counts the swaps of each pool. It is asked after a swap and can change no amount.
contract CountingHook {
    IPoolManager public immutable manager;
    mapping(bytes32 pool => uint256) public swaps;

    error NotTheManager();

    constructor(IPoolManager manager_) {
        manager = manager_;
    }

    function afterSwap(address, PoolKey calldata key, IPoolManager.SwapParams calldata, BalanceDelta, bytes calldata)
        external
        returns (bytes4, int128)
    {
        if (msg.sender != address(manager)) revert NotTheManager();
        swaps[keccak256(abi.encode(key))] += 1;
        return (this.afterSwap.selector, 0);
    }
}
"""
_DYNAMIC: Final = """import {BeforeSwapDelta} from "@uniswap/v4-core/src/types/BeforeSwapDelta.sol";

/// Sets the fee of each swap, never above a ceiling that nobody can change. Its pools carry the fee 0x800000.
contract FeeHook {
    uint24 public constant MOST = 10_000; // 1%, in hundredths of a basis point
    uint24 internal constant OVERRIDE = 0x400000;
    IPoolManager public immutable manager;

    error NotTheManager();

    constructor(IPoolManager manager_) {
        manager = manager_;
    }

    /// Put the rule of the fee here. It may read the pool and the block; what an owner can set is a promise to nobody.
    function feeOf(PoolKey calldata) public pure returns (uint24) {
        return 3_000;
    }

    function beforeSwap(address, PoolKey calldata key, IPoolManager.SwapParams calldata, bytes calldata)
        external
        view
        returns (bytes4, BeforeSwapDelta, uint24)
    {
        if (msg.sender != address(manager)) revert NotTheManager();
        uint24 fee = feeOf(key);
        if (fee > MOST) fee = MOST;
        return (this.beforeSwap.selector, BeforeSwapDelta.wrap(0), fee | OVERRIDE);
    }
}
"""
TEXTS: Final[Mapping[str, HookText]] = {
    "counter": HookText(_HEAD + _COUNTER, 0x0040, ("afterSwap",)),
    "dynamic_fee": HookText(_HEAD + _DYNAMIC, 0x0080, ("beforeSwap",)),
}
