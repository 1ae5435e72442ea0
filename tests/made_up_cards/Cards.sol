// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Cards of many kinds, of which an account may have many of one. What it says it is, it is told. Made up, for tests.
contract Cards {
    mapping(address => mapping(uint256 => uint256)) public balanceOf;
    mapping(bytes4 => bool) private said;

    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);

    function say(bytes4 kind, bool isSo) external {
        said[kind] = isSo;
    }

    function supportsInterface(bytes4 kind) external view returns (bool) {
        // Who was told nothing does not know the question.
        require(said[0x01ffc9a7]);
        return said[kind];
    }

    function mint(address to, uint256 id, uint256 amount) external {
        balanceOf[to][id] += amount;
        emit TransferSingle(msg.sender, address(0), to, id, amount);
    }

    function give(address to, uint256 id, uint256 amount) external {
        balanceOf[msg.sender][id] -= amount;
        balanceOf[to][id] += amount;
        emit TransferSingle(msg.sender, msg.sender, to, id, amount);
    }
}
