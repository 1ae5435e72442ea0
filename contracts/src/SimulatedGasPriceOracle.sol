// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// @title Simulated contract: the oracle of an optimistic rollup's layer-one fee, with the interface of the predeploy
/// @notice Charges by the bytes of the unsigned transaction it is handed, a signature's bytes added, as the predeploy
/// has done since it also counts blobs. Its owner sets the prices that on a real rollup come from layer one.
contract SimulatedGasPriceOracle {
    uint256 private constant ZERO_BYTE = 4;
    uint256 private constant OTHER_BYTE = 16;
    uint256 private constant SIGNATURE_GAS = 68 * OTHER_BYTE;
    uint256 public constant decimals = 6;
    string public constant version = "simulated";
    bool public constant isEcotone = true;

    address public immutable owner;
    uint256 public l1BaseFee;
    uint256 public blobBaseFee;
    uint32 public baseFeeScalar;
    uint32 public blobBaseFeeScalar;

    error NotOwner(address caller);

    constructor() {
        owner = msg.sender;
    }

    function setPrices(uint256 l1BaseFee_, uint256 blobBaseFee_, uint32 baseFeeScalar_, uint32 blobBaseFeeScalar_)
        external
    {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        (l1BaseFee, blobBaseFee) = (l1BaseFee_, blobBaseFee_);
        (baseFeeScalar, blobBaseFeeScalar) = (baseFeeScalar_, blobBaseFeeScalar_);
    }

    /// @param data The unsigned, fully encoded transaction.
    function getL1Fee(bytes memory data) external view returns (uint256) {
        uint256 scaled = uint256(baseFeeScalar) * 16 * l1BaseFee + uint256(blobBaseFeeScalar) * blobBaseFee;
        return getL1GasUsed(data) * scaled / (16 * 10 ** decimals);
    }

    function getL1GasUsed(bytes memory data) public pure returns (uint256 gas) {
        gas = SIGNATURE_GAS;
        for (uint256 i = 0; i < data.length; i++) {
            gas += data[i] == 0 ? ZERO_BYTE : OTHER_BYTE;
        }
    }
}
