// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated token of restaked ether that does not rebase: its issuer mints it for deposits and burns it for exits
/// @notice Stands in on the local chain (31337) for rsETH and for ezETH.
contract SimulatedRestakedToken {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    address public immutable deployer;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;
    mapping(address account => bool) public isIssuer;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_) {
        (name, symbol, deployer) = (name_, symbol_, msg.sender);
    }

    function setIssuer(address issuer) external {
        require(msg.sender == deployer, "only the deployer");
        isIssuer[issuer] = true;
    }

    function mint(address to, uint256 value) external {
        require(isIssuer[msg.sender], "only an issuer");
        _move(address(0), to, value);
    }

    function burnFrom(address from, uint256 value) external {
        require(isIssuer[msg.sender], "only an issuer");
        _move(from, address(0), value);
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
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        if (from == address(0)) totalSupply += value;
        else balanceOf[from] -= value;
        if (to == address(0)) totalSupply -= value;
        else balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
