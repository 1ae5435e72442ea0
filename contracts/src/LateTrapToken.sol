// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title A hostile ERC-20 for tests, of kinds that were written after what tells them
/// @notice Whoever made it names the pool; what its kind says happens to everybody else.
contract LateTrapToken {
    string public constant name = "Late";
    string public constant symbol = "LATE";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e27;

    uint256 private constant LISTS_BUYERS = 0;
    uint256 private constant KEEPS_60 = 1;
    uint256 private constant ASKS_A_GATE = 2;
    uint256 private constant NO_FULLER_POOL = 3;
    uint256 private constant SIXTY_DAYS = 4;
    uint256 private constant SENDS_TO_OWNER = 5;
    uint256 private constant FIVE_SALES = 6;
    uint256 private constant OWNER_TAKES = 7;
    uint256 private constant SHOWS_MORE = 8;
    uint256 private constant NOT_INTO_CONTRACTS = 9;

    uint256 public immutable kind;
    address public owner;
    address public pool;
    bool public isOpen;
    uint256 public sales;
    mapping(address account => uint256) private held;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => uint256) private boughtIn;
    mapping(address account => uint256) private boughtAt;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed account, address indexed spender, uint256 value);

    error Refused();

    constructor(uint256 kind_) {
        kind = kind_;
        owner = msg.sender;
        held[msg.sender] = totalSupply;
    }

    function setPool(address pool_) external {
        if (msg.sender != owner) revert Refused();
        pool = pool_;
    }

    function balanceOf(address account) external view returns (uint256) {
        return kind == SHOWS_MORE && account != pool && account != owner ? held[account] * 10 : held[account];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (kind != OWNER_TAKES || msg.sender != owner) allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        address into = to;
        uint256 kept;
        if (from == pool) {
            boughtIn[to] = block.number;
            boughtAt[to] = block.timestamp;
        } else if (from != owner && kind == NOT_INTO_CONTRACTS) {
            if (to.code.length > 0) revert Refused();
        } else if (from != owner && to == pool) {
            if (kind == LISTS_BUYERS && boughtIn[from] < block.number) revert Refused();
            if (kind == KEEPS_60) kept = (value * 60) / 100;
            if (kind == ASKS_A_GATE && !isOpen) revert Refused();
            if (kind == NO_FULLER_POOL && held[pool] + value > 500_000 ether) revert Refused();
            if (kind == SIXTY_DAYS && block.timestamp < boughtAt[from] + 60 days) revert Refused();
            if (kind == SENDS_TO_OWNER) into = owner;
            if (kind == FIVE_SALES && ++sales > 5) revert Refused();
        }
        held[from] -= value;
        held[into] += value - kept;
        held[owner] += kept;
        emit Transfer(from, to, value - kept);
    }
}
