// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IKeeperToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A simulated contract: standing orders that keepers execute, whole or in parts, for tests
/// @notice An order gives `cash` and wants `loan` for it, which a keeper puts into a lot that `heir` owns. Its `mood`
/// makes it do more than it is asked, as hostile protocols do.
contract MadeUpKeeper {
    struct Order {
        address owner;
        address heir;
        uint256 give;
        uint256 want;
        uint256 until;
        uint256 fate;
        uint256 back;
        uint256 endedIn;
        uint256 lot;
    }

    struct Lot {
        address owner;
        uint256 amount;
    }

    uint256 public constant OPEN = 1;
    uint256 public constant EXECUTED = 2;
    uint256 public constant CANCELLED = 3;
    uint256 public constant EXPIRED = 4;
    /// @notice So many seconds an order stands before its owner may cancel it.
    uint256 public constant LEAST_AGE = 0;

    IKeeperToken public immutable cash;
    IKeeperToken public immutable loan;
    Order[] public orders;
    Lot[] public lots;
    /// @dev 1: executes at any price; 2: executes what is executed already; 3: an order's lot is a stranger's;
    /// 4: a cancelled order says that all came back, and half of it did; 5: forgets an order.
    uint256 public mood;

    event Placed(uint256 indexed id, address indexed owner, address heir, uint256 give, uint256 want, uint256 until);
    event Executed(uint256 indexed id, uint256 part, uint256 paid, uint256 lot);
    event Ended(uint256 indexed id, uint256 fate, uint256 back);
    event Closed(uint256 indexed lot, address indexed owner, uint256 amount);

    error NotOpen(uint256 id);
    error NotYours(uint256 id);
    error TooEarly(uint256 id, uint256 until);
    error TooLate(uint256 id, uint256 until);
    error TooLittle(uint256 wanted, uint256 paid);

    constructor(address cash_, address loan_) {
        cash = IKeeperToken(cash_);
        loan = IKeeperToken(loan_);
        // Number 0 is no lot.
        lots.push(Lot(address(0), 0));
    }

    function setMood(uint256 mood_) external {
        mood = mood_;
    }

    function place(uint256 give, uint256 want, uint256 until, address heir) external returns (uint256 id) {
        cash.transferFrom(msg.sender, address(this), give);
        id = orders.length;
        orders.push(Order(msg.sender, mood == 3 ? address(0xdead) : heir, give, want, until, OPEN, 0, 0, 0));
        emit Placed(id, msg.sender, heir, give, want, until);
    }

    /// @notice Any keeper executes `part` of what an order gives and pays `paid` for it.
    function execute(uint256 id, uint256 part, uint256 paid) external {
        Order storage order = orders[id];
        if (order.fate != OPEN && mood != 2) revert NotOpen(id);
        if (block.timestamp > order.until) revert TooLate(id, order.until);
        uint256 wanted = order.give == 0 ? 0 : order.want * part / order.give;
        if (paid < wanted && mood != 1) revert TooLittle(wanted, paid);
        loan.transferFrom(msg.sender, address(this), paid);
        if (order.fate == OPEN) {
            order.give -= part;
            order.want -= wanted;
            cash.transfer(msg.sender, part);
        }
        if (order.lot == 0 || mood == 2) {
            order.lot = lots.length;
            lots.push(Lot(order.heir, 0));
        }
        lots[order.lot].amount += paid;
        if (order.give == 0) (order.fate, order.endedIn) = (EXECUTED, block.number);
        emit Executed(id, part, paid, order.lot);
    }

    function cancel(uint256 id) external {
        if (orders[id].owner != msg.sender) revert NotYours(id);
        _end(id, CANCELLED);
    }

    /// @notice Anybody ends an order whose time is over; what it has left goes back to its owner.
    function expire(uint256 id) external {
        if (block.timestamp <= orders[id].until) revert TooEarly(id, orders[id].until);
        _end(id, EXPIRED);
    }

    function close(uint256 lot) external {
        if (lots[lot].owner != msg.sender) revert NotYours(lot);
        uint256 amount = lots[lot].amount;
        lots[lot].amount = 0;
        loan.transfer(msg.sender, amount);
        emit Closed(lot, msg.sender, amount);
    }

    /// @notice Ids of the open orders of `account`.
    function ordersOf(address account) external view returns (uint256[] memory ids) {
        uint256 count;
        for (uint256 i = 0; i < orders.length; ++i) if (_isOpen(i, account)) ++count;
        ids = new uint256[](count);
        for (uint256 i = orders.length; i > 0; --i) if (_isOpen(i - 1, account)) ids[--count] = i - 1;
    }

    /// @notice Numbers of the lots of `account` that hold something.
    function lotsOf(address account) external view returns (uint256[] memory ids) {
        uint256 count;
        for (uint256 i = 0; i < lots.length; ++i) if (_isHeld(i, account)) ++count;
        ids = new uint256[](count);
        for (uint256 i = lots.length; i > 0; --i) if (_isHeld(i - 1, account)) ids[--count] = i - 1;
    }

    function _isOpen(uint256 id, address account) private view returns (bool) {
        return mood != 5 && orders[id].owner == account && orders[id].fate == OPEN;
    }

    function _isHeld(uint256 lot, address account) private view returns (bool) {
        return lots[lot].owner == account && lots[lot].amount != 0;
    }

    function _end(uint256 id, uint256 fate) private {
        Order storage order = orders[id];
        if (order.fate != OPEN) revert NotOpen(id);
        uint256 back = order.give;
        (order.fate, order.back, order.give, order.endedIn) = (fate, back, 0, block.number);
        cash.transfer(order.owner, mood == 4 ? back / 2 : back);
        emit Ended(id, fate, back);
    }
}
