// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ITwammToken {
    function balanceOf(address account) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title Simulated orders over time: what an order sells falls due second by second, and fillers buy what is due
/// @notice Stands in on the local chain (31337) for a hook over a pool. Nobody pays less than the order's least price;
/// what was bought and what is left stay with the order until it is closed, and then go to its owner.
contract SimulatedTwamm {
    struct Order {
        address owner;
        address tokenIn;
        address tokenOut;
        uint256 amount;
        uint256 least;
        uint256 start;
        uint256 until;
        uint256 sold;
        uint256 bought;
        uint256 fate;
        uint256 endedIn;
    }

    uint256 public constant OPEN = 1;
    uint256 public constant EXECUTED = 2;
    uint256 public constant CANCELLED = 3;
    uint256 public constant EXPIRED = 4;

    Order[] private _orders;
    mapping(address owner => uint256[]) private _open;
    mapping(uint256 id => uint256) private _place;

    event OrderSubmitted(uint256 indexed id, address indexed owner, address tokenIn, address tokenOut, uint256 amount);
    event OrderFilled(uint256 indexed id, uint256 sold, uint256 paid);
    event OrderClosed(uint256 indexed id, uint256 fate, uint256 left, uint256 bought);

    error NothingOrdered();
    error NotOpen(uint256 id);
    error NotDue(uint256 due);
    error TooLittle(uint256 least);
    error NotPaid(address token);
    error NotYours(uint256 id);

    function submit(address tokenIn, address tokenOut, uint256 amount, uint256 least, uint256 duration)
        external
        returns (uint256 id)
    {
        if (amount == 0 || least == 0 || duration == 0 || tokenIn == tokenOut) revert NothingOrdered();
        id = _orders.length;
        Order storage order = _orders.push();
        (order.owner, order.tokenIn, order.tokenOut) = (msg.sender, tokenIn, tokenOut);
        (order.amount, order.least, order.start) = (amount, least, block.timestamp);
        (order.until, order.fate) = (block.timestamp + duration, OPEN);
        _place[id] = _open[msg.sender].length;
        _open[msg.sender].push(id);
        _take(tokenIn, amount);
        emit OrderSubmitted(id, msg.sender, tokenIn, tokenOut, amount);
    }

    /// @notice Anybody buys a part of what is due, at the order's least price or better.
    function fill(uint256 id, uint256 part, uint256 paid) external {
        Order storage order = _orders[id];
        if (order.fate != OPEN) revert NotOpen(id);
        uint256 mostNow = due(id);
        if (part == 0 || part > mostNow) revert NotDue(mostNow);
        uint256 least = (order.least * part + order.amount - 1) / order.amount;
        if (paid < least) revert TooLittle(least);
        order.sold += part;
        order.bought += paid;
        _take(order.tokenOut, paid);
        _give(order.tokenIn, msg.sender, part);
        emit OrderFilled(id, part, paid);
    }

    /// @notice Its owner closes an order at any time; anybody closes one that is sold or over. All of it goes to its owner.
    function close(uint256 id) external {
        Order storage order = _orders[id];
        if (order.fate != OPEN) revert NotOpen(id);
        bool isSold = order.sold == order.amount;
        bool isOver = block.timestamp > order.until;
        if (!isSold && !isOver && msg.sender != order.owner) revert NotYours(id);
        order.fate = isSold ? EXECUTED : isOver ? EXPIRED : CANCELLED;
        order.endedIn = block.number;
        _forget(id, order.owner);
        uint256 left = order.amount - order.sold;
        if (left != 0) _give(order.tokenIn, order.owner, left);
        if (order.bought != 0) _give(order.tokenOut, order.owner, order.bought);
        emit OrderClosed(id, order.fate, left, order.bought);
    }

    /// @notice How much of what an order sells may be bought now.
    function due(uint256 id) public view returns (uint256) {
        Order storage order = _orders[id];
        uint256 now_ = block.timestamp < order.until ? block.timestamp : order.until;
        return order.amount * (now_ - order.start) / (order.until - order.start) - order.sold;
    }

    function orders(uint256 id) external view returns (Order memory) {
        return _orders[id];
    }

    /// @notice Ids of the open orders of `owner`; nobody but it can submit one for it.
    function openOrdersOf(address owner) external view returns (uint256[] memory) {
        return _open[owner];
    }

    /// @dev What did not come whole would be paid out of what lies here for others.
    function _take(address token, uint256 amount) private {
        uint256 had = ITwammToken(token).balanceOf(address(this));
        bool isOk = ITwammToken(token).transferFrom(msg.sender, address(this), amount);
        if (!isOk || ITwammToken(token).balanceOf(address(this)) != had + amount) revert NotPaid(token);
    }

    function _give(address token, address to, uint256 amount) private {
        if (!ITwammToken(token).transfer(to, amount)) revert NotPaid(token);
    }

    function _forget(uint256 id, address owner) private {
        uint256[] storage mine = _open[owner];
        uint256 last = mine[mine.length - 1];
        (mine[_place[id]], _place[last]) = (last, _place[id]);
        mine.pop();
    }
}
