// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

// Holes that an analyser must find; never deployed. If one is not reported, its silence about our contracts says nothing.

interface IGold {
    function transfer(address to, uint256 amount) external returns (bool);

    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

contract KnownHoles {
    IGold private immutable gold;
    address private owner;
    address private heir;
    mapping(address account => uint256) private kept;
    mapping(address account => uint256) private bonus;

    constructor(IGold gold_) {
        gold = gold_;
        owner = msg.sender;
    }

    function keep() external payable {
        kept[msg.sender] += msg.value;
    }

    function trustOrigin(address next) external {
        require(tx.origin == owner);
        owner = next;
    }

    function runAnything(address code, bytes calldata data) external {
        (bool isOk,) = code.delegatecall(data);
        require(isOk);
    }

    function payBeforeBooking() external {
        (bool isOk,) = msg.sender.call{value: kept[msg.sender]}("");
        require(isOk);
        kept[msg.sender] = 0;
    }

    function giveAway(address payable to) external {
        to.transfer(address(this).balance);
    }

    function hopeForTheBest(uint256 amount) external {
        gold.transfer(msg.sender, amount);
    }

    function takeFromAnybody(address from, uint256 amount) external {
        require(gold.transferFrom(from, address(this), amount));
    }

    function roundTooSoon(uint256 amount) external view returns (uint256) {
        return amount / 1000 * bonus[msg.sender];
    }

    function payHeir() external view returns (address) {
        return heir;
    }

    function end() external {
        selfdestruct(payable(msg.sender));
    }
}
