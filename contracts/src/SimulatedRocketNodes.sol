// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated registry of node operators and their minipools
contract SimulatedRocketNodes {
    struct Node {
        uint256 active;
        uint256 staking;
        uint256 fee;
    }

    address public immutable admin;
    uint256 public getNodeFee = 0.14 ether;
    uint256 public getActiveMinipoolCount;
    uint256 public getStakingMinipoolCount;
    address[] private _nodes;
    mapping(address node => Node) private _of;

    constructor() {
        admin = msg.sender;
    }

    function register(address node, uint256 active, uint256 staking, uint256 fee) external {
        require(msg.sender == admin, "Invalid or outdated contract");
        _nodes.push(node);
        _of[node] = Node(active, staking, fee);
        getActiveMinipoolCount += active;
        getStakingMinipoolCount += staking;
    }

    function getNodeCount() external view returns (uint256) {
        return _nodes.length;
    }

    function getNodeAddresses(uint256 offset, uint256 limit) external view returns (address[] memory nodes) {
        uint256 end = offset + limit < _nodes.length ? offset + limit : _nodes.length;
        nodes = new address[](end > offset ? end - offset : 0);
        for (uint256 i; i < nodes.length; ++i) nodes[i] = _nodes[offset + i];
    }

    function getNodeAverageFee(address node) external view returns (uint256) {
        return _of[node].fee;
    }

    function getNodeActiveMinipoolCount(address node) external view returns (uint256) {
        return _of[node].active;
    }

    function getNodeStakingMinipoolCount(address node) external view returns (uint256) {
        return _of[node].staking;
    }
}
