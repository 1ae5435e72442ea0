// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {IPrices, IToken, IValuer, Leg, MICRO_USD, NATIVE} from "./CageTypes.sol";

interface IStakedEther {
    function sharesOf(address account) external view returns (uint256);

    function getPooledEthByShares(uint256 shares) external view returns (uint256);
}

interface IWithdrawalQueue {
    struct Status {
        uint256 amount;
        uint256 shares;
        address owner;
        uint256 timestamp;
        bool isFinal;
        bool isClaimed;
    }

    function getWithdrawalRequests(address owner) external view returns (uint256[] memory);

    function getWithdrawalStatus(uint256[] calldata ids) external view returns (Status[] memory);

    function getLastCheckpointIndex() external view returns (uint256);

    function findCheckpointHints(uint256[] calldata ids, uint256 first, uint256 last)
        external
        view
        returns (uint256[] memory);

    function getClaimableEther(uint256[] calldata ids, uint256[] calldata hints)
        external
        view
        returns (uint256[] memory);
}

/// @title Values ether staked at Lido: stETH, wstETH and places in the queue of withdrawals, as one position
/// @notice One position, because to change between them is neither a gain nor a loss. A place in the queue counts what it
/// was asked for, or less where the pool lost since; next to nothing, which strangers ask for in anybody's name, is skipped. stETH and wstETH that are assets of their own count there: to join
/// the queue is then to open a position, which a cage in its worst phases leaves to the owners.
contract StakeValuer is IValuer {
    /// @notice Of more places in the queue than this the first count, as the queue lists them. Those that strangers open for
    /// the account come behind what was there, so they push nothing out; what the account opens behind them counts as nothing.
    uint256 public constant MOST_COUNTED = 256;
    /// @dev Wei that a place must have been asked for.
    uint256 private constant LEAST_COUNTED = 1e13;

    address public immutable stETH;
    address public immutable wstETH;
    IWithdrawalQueue public immutable queue;

    constructor(address stETH_, address wstETH_, address queue_) {
        (stETH, wstETH, queue) = (stETH_, wstETH_, IWithdrawalQueue(queue_));
    }

    /// @inheritdoc IValuer
    function subject() external view returns (address) {
        return stETH;
    }

    /// @inheritdoc IValuer
    function measure(address account)
        external
        view
        returns (uint256 gross, uint256 debt, uint256 largest, uint256 newest, uint256 cover, Leg[] memory legs)
    {
        (debt, newest) = (0, 0);
        IPrices prices = IPrices(msg.sender);
        if (!prices.isPriced(NATIVE)) return (0, 0, 0, 0, 0, legs);
        uint256 shares = prices.isPriced(wstETH) ? 0 : IToken(wstETH).balanceOf(account);
        if (!prices.isPriced(stETH)) shares += IStakedEther(stETH).sharesOf(account);
        uint256 amount = shares == 0 ? 0 : IStakedEther(stETH).getPooledEthByShares(shares);
        amount += _inQueue(account);
        if (amount == 0) return (0, 0, 0, 0, 0, legs);
        (uint256 answer, uint256 unit) = prices.priceOf(NATIVE);
        gross = amount * answer * MICRO_USD / unit;
        (largest, cover) = (gross, gross);
        legs = new Leg[](1);
        legs[0] = Leg(NATIVE, int256(amount));
    }

    function _inQueue(address account) private view returns (uint256 amount) {
        uint256[] memory ids = queue.getWithdrawalRequests(account);
        if (ids.length == 0) return 0;
        if (ids.length > MOST_COUNTED) {
            assembly ("memory-safe") {
                mstore(ids, MOST_COUNTED)
            }
        }
        IWithdrawalQueue.Status[] memory statuses = queue.getWithdrawalStatus(ids);
        uint256 due = 0;
        for (uint256 i = 0; i < ids.length; ++i) {
            if (statuses[i].amount < LEAST_COUNTED) continue;
            if (statuses[i].isFinal) {
                ids[due++] = ids[i];
                continue;
            }
            uint256 worth = IStakedEther(stETH).getPooledEthByShares(statuses[i].shares);
            amount += worth < statuses[i].amount ? worth : statuses[i].amount;
        }
        if (due == 0) return amount;
        assembly ("memory-safe") {
            mstore(ids, due)
        }
        ids = _sort(ids);
        uint256[] memory hints = queue.findCheckpointHints(ids, 1, queue.getLastCheckpointIndex());
        uint256[] memory claimable = queue.getClaimableEther(ids, hints);
        for (uint256 i = 0; i < due; ++i) {
            amount += claimable[i];
        }
    }

    /// @dev The queue finds the hints of ascending numbers only. Merged in runs that double, because a stranger who sends
    /// places the wrong way round would make every step of a simpler way count.
    function _sort(uint256[] memory ids) private pure returns (uint256[] memory) {
        uint256 count = ids.length;
        uint256[] memory sorted = new uint256[](count);
        for (uint256 run = 1; run < count; run *= 2) {
            for (uint256 from = 0; from < count; from += 2 * run) {
                uint256 left = from;
                uint256 middle = from + run < count ? from + run : count;
                uint256 right = middle;
                uint256 end = from + 2 * run < count ? from + 2 * run : count;
                for (uint256 at = from; at < end; ++at) {
                    bool isLeft = left < middle && (right == end || ids[left] < ids[right]);
                    sorted[at] = isLeft ? ids[left++] : ids[right++];
                }
            }
            (ids, sorted) = (sorted, ids);
        }
        return ids;
    }
}
