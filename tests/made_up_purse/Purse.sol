// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface Token {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Lets managers draw so much a day of what principals allowed it to take. Made up, for tests.
contract Purse {
    struct Line {
        uint256 perDay;
        uint256 begun;
        uint256 ends;
        uint256 day;
        uint256 used;
    }

    mapping(address => mapping(address => mapping(address => Line))) private lines;
    uint256 public extra;
    address public besides;

    error TooMuch(uint256 left);
    error NotGiven();

    function misbehave(uint256 more, address token) external {
        extra = more;
        besides = token;
    }

    function give(address manager, address token, uint256 perDay, uint256 begun, uint256 ends) external {
        lines[msg.sender][manager][token] = Line(perDay, begun, ends, 0, 0);
    }

    function takeBack(address manager, address token) external {
        delete lines[msg.sender][manager][token];
    }

    function giveUp(address principal, address token) external {
        delete lines[principal][msg.sender][token];
    }

    function left(address principal, address manager, address token) public view returns (uint256 ends, uint256 rest) {
        Line storage line = lines[principal][manager][token];
        if (line.ends <= block.timestamp || line.begun > block.timestamp) return (line.ends, 0);
        uint256 day = (block.timestamp - line.begun) / 1 days;
        return (line.ends, day == line.day ? line.perDay - line.used : line.perDay);
    }

    function draw(address principal, address token, uint256 amount, address to) external {
        Line storage line = lines[principal][msg.sender][token];
        if (line.ends == 0) revert NotGiven();
        (, uint256 rest) = left(principal, msg.sender, token);
        if (amount > rest) revert TooMuch(rest);
        uint256 day = (block.timestamp - line.begun) / 1 days;
        line.used = day == line.day ? line.used + amount : amount;
        line.day = day;
        Token(token).transferFrom(principal, to, amount);
        if (extra > 0) Token(besides).transferFrom(principal, address(this), extra);
    }
}
