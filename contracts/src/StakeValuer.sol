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
/// was asked for, or less where the pool lost since. stETH and wstETH that are assets of their own count there: to join
/// the queue is then to open a position, which a cage in its worst phases leaves to the owners.
contract StakeValuer is IValuer {
    /// @notice With more places in the queue than this nothing is told: one that is not counted would be free to take.
    uint256 public constant MOST_COUNTED = 64;

    address public immutable stETH;
    address public immutable wstETH;
    IWithdrawalQueue public immutable queue;

    error TooManyRequests(uint256 observed, uint256 allowed);

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
        if (ids.length > MOST_COUNTED) revert TooManyRequests(ids.length, MOST_COUNTED);
        if (ids.length == 0) return 0;
        _sort(ids);
        IWithdrawalQueue.Status[] memory statuses = queue.getWithdrawalStatus(ids);
        uint256 due = 0;
        for (uint256 i = 0; i < ids.length; ++i) {
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
        uint256[] memory hints = queue.findCheckpointHints(ids, 1, queue.getLastCheckpointIndex());
        uint256[] memory claimable = queue.getClaimableEther(ids, hints);
        for (uint256 i = 0; i < due; ++i) {
            amount += claimable[i];
        }
    }

    /// @dev The queue finds the hints of ascending numbers only.
    function _sort(uint256[] memory ids) private pure {
        for (uint256 i = 1; i < ids.length; ++i) {
            uint256 id = ids[i];
            uint256 at = i;
            for (; at != 0 && ids[at - 1] > id; --at) {
                ids[at] = ids[at - 1];
            }
            ids[at] = id;
        }
    }
}
