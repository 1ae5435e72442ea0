// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IBankToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// @title A simulated contract: a bank that nobody runs, with debt, a queue and a right of its own, for tests
/// @notice Deposits of `cash` back loans of `loan`. What is withdrawn waits in a queue first. `isTeller` may act for
/// an account. Its `mood` makes it do more than it is asked, as hostile protocols do.
contract MadeUpBank {
    struct Request {
        address owner;
        uint256 amount;
        uint256 readyAt;
    }

    IBankToken public immutable cash;
    IBankToken public immutable loan;
    uint256 public constant WAIT = 1 days;
    uint256 public constant COVER_BPS = 8000;

    mapping(address account => uint256) public deposited;
    mapping(address account => uint256) public owed;
    mapping(address account => mapping(address teller => bool)) public isTeller;
    Request[] public requests;
    /// @dev 1: a deposit also borrows one unit; 2: a deposit makes a stranger teller; 3: a repayment takes deposits
    /// away; 4: interest of a tenth with every call; 5: a deposit counts for half.
    uint256 public mood;
    /// @dev What one whole `loan` is worth in `cash`, both with 18 decimals.
    uint256 public priceOfLoan = 1e18;

    event Deposited(address indexed account, uint256 amount);
    event Borrowed(address indexed account, uint256 amount);
    event Repaid(address indexed account, uint256 amount);
    event Requested(uint256 indexed id, address indexed account, uint256 amount, uint256 readyAt);
    event Claimed(uint256 indexed id, address indexed account, uint256 amount);
    event TellerSet(address indexed account, address indexed teller, bool allowed);

    error NotReady(uint256 id, uint256 readyAt);
    error TooMuchDebt(uint256 cover, uint256 debt);
    error NotYours(uint256 id);

    constructor(address cash_, address loan_) {
        cash = IBankToken(cash_);
        loan = IBankToken(loan_);
    }

    function setMood(uint256 mood_) external {
        mood = mood_;
    }

    function setPriceOfLoan(uint256 price) external {
        priceOfLoan = price;
    }

    function deposit(uint256 amount) external {
        cash.transferFrom(msg.sender, address(this), amount);
        deposited[msg.sender] += mood == 5 ? amount / 2 : amount;
        emit Deposited(msg.sender, amount);
        if (mood == 1) owed[msg.sender] += 1e18;
        if (mood == 2) _setTeller(0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC, true);
    }

    function borrow(uint256 amount) external {
        owed[msg.sender] += amount;
        _accrue();
        _check(msg.sender);
        loan.transfer(msg.sender, amount);
        emit Borrowed(msg.sender, amount);
    }

    function repay(uint256 amount) external {
        loan.transferFrom(msg.sender, address(this), amount);
        owed[msg.sender] -= amount;
        if (mood == 3) deposited[msg.sender] /= 2;
        _accrue();
        emit Repaid(msg.sender, amount);
    }

    function request(uint256 amount) external returns (uint256 id) {
        deposited[msg.sender] -= amount;
        _check(msg.sender);
        id = requests.length;
        requests.push(Request(msg.sender, amount, block.timestamp + WAIT));
        emit Requested(id, msg.sender, amount, block.timestamp + WAIT);
    }

    function claim(uint256 id) external {
        Request memory found = requests[id];
        if (found.owner != msg.sender) revert NotYours(id);
        if (block.timestamp < found.readyAt) revert NotReady(id, found.readyAt);
        delete requests[id];
        cash.transfer(msg.sender, found.amount);
        emit Claimed(id, msg.sender, found.amount);
    }

    function setTeller(address teller, bool allowed) external {
        _setTeller(teller, allowed);
    }

    /// @notice Ids of the requests of `account` that were not claimed.
    function requestsOf(address account) external view returns (uint256[] memory ids) {
        uint256 count = 0;
        for (uint256 i = 0; i < requests.length; ++i) if (requests[i].owner == account) ++count;
        ids = new uint256[](count);
        for (uint256 i = requests.length; i > 0; --i) if (requests[i - 1].owner == account) ids[--count] = i - 1;
    }

    function health(address account) public view returns (uint256 bps) {
        uint256 debt = owed[account] * priceOfLoan / 1e18;
        return debt == 0 ? type(uint256).max : deposited[account] * COVER_BPS / debt;
    }

    function _check(address account) private view {
        uint256 bps = health(account);
        if (bps < 10_000) revert TooMuchDebt(deposited[account], owed[account]);
    }

    function _accrue() private {
        if (mood == 4) owed[msg.sender] += owed[msg.sender] / 10;
    }

    function _setTeller(address teller, bool allowed) private {
        isTeller[msg.sender][teller] = allowed;
        emit TellerSet(msg.sender, teller, allowed);
    }
}
