// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import "./CageTypes.sol";
import {CagePrices} from "./CagePrices.sol";

/// @title What others may take without the cage
/// @notice Read before and after a batch, for every right that a call along one of the two decoded paths names.
abstract contract CageRights is CagePrices {
    bytes4 private constant APPROVE = 0x095ea7b3;

    /// @return held for each call that names one, what its spender may take of its asset now: base units, at most 128
    /// bits. Permit2 itself is none: it takes nothing but along rights that are read where they are given.
    function _readRights(Call[] calldata calls) internal view returns (uint256[] memory held) {
        held = new uint256[](calls.length);
        bytes32[] memory seen = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (address token, address spender) = _rightOf(calls[i]);
            if (spender == address(0) || spender == PERMIT2) continue;
            bool isOfPermit2 = calls[i].to == PERMIT2;
            seen[i] = keccak256(abi.encode(isOfPermit2, token, spender));
            if (_isAmong(seen, i)) continue;
            uint256 amount = isOfPermit2 ? _readPermit2(token, spender) : _readAllowance(token, spender);
            held[i] = amount > type(uint128).max ? type(uint128).max : amount;
        }
    }

    /// @return given how much more of each asset may be taken without the cage than before the batch.
    function _sumGiven(Call[] calldata calls, uint256[] memory before, uint256[] memory after_)
        internal
        view
        returns (uint256[] memory given)
    {
        given = new uint256[](assetList.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            if (after_[i] <= before[i]) continue;
            (address token,) = _rightOf(calls[i]);
            uint256 index = 0;
            while (assetList[index] != token) ++index;
            given[index] += after_[i] - before[i];
        }
    }

    /// @dev The asset and the spender of a call along a decoded path; zeros for any other.
    function _rightOf(Call calldata call) private view returns (address token, address spender) {
        if (call.data.length == 132 && call.to == PERMIT2) {
            return abi.decode(call.data[4:], (address, address));
        }
        bool isApproval = call.data.length == 68 && bytes4(call.data) == APPROVE && _stateOf(call.to) != 0;
        if (isApproval) return (call.to, abi.decode(call.data[4:], (address)));
    }

    function _readAllowance(address token, address spender) private view returns (uint256) {
        (bool isOk, bytes memory output) = token.staticcall(abi.encodeCall(IToken.allowance, (account, spender)));
        if (!isOk || output.length < 32) revert BalanceUnreadable(token);
        return abi.decode(output, (uint256));
    }

    function _readPermit2(address token, address spender) private view returns (uint256) {
        (uint160 amount, uint48 expiration,) = IPermit2(PERMIT2).allowance(account, token, spender);
        return expiration < block.timestamp ? 0 : amount;
    }

    function _isAmong(bytes32[] memory seen, uint256 index) private pure returns (bool) {
        for (uint256 i = 0; i < index; ++i) {
            if (seen[i] == seen[index]) return true;
        }
        return false;
    }
}
