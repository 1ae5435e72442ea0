// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {Call, IPermit2, IValuer, PERMIT2} from "./CageTypes.sol";

interface IWatched {
    function balanceOf(address account) external view returns (uint256);

    function allowance(address account, address spender) external view returns (uint256);

    function getThreshold() external view returns (uint256);

    function getOwners() external view returns (address[] memory);

    function nonce() external view returns (uint256);

    function isModuleEnabled(address module) external view returns (bool);
}

/// @title Looks at a Safe without asking its cage, for proofs that the cage keeps its bounds
contract CageWatcher {
    struct Seen {
        uint256[] balances;
        uint256[] allowances;
        uint256[] throughPermit2;
        uint256 coins;
        uint256[4] position;
        uint256 threshold;
        uint256 owners;
        uint256 nonce;
        bool isThiefModule;
        bool isCageModule;
    }

    /// @param tokens whose balances are read; allowances are those of each token for each spender in turn, and so are
    /// those given through Permit2, with when they expire in the bits above their 160.
    function look(
        address safe,
        address cage,
        address thief,
        address lender,
        address[] calldata tokens,
        address[] calldata spenders
    ) external view returns (Seen memory seen) {
        seen.balances = new uint256[](tokens.length);
        seen.allowances = new uint256[](tokens.length * spenders.length);
        seen.throughPermit2 = new uint256[](tokens.length * spenders.length);
        for (uint256 i = 0; i < tokens.length; ++i) {
            seen.balances[i] = IWatched(tokens[i]).balanceOf(safe);
            for (uint256 j = 0; j < spenders.length; ++j) {
                uint256 place = i * spenders.length + j;
                seen.allowances[place] = IWatched(tokens[i]).allowance(safe, spenders[j]);
                (uint160 amount, uint48 expiration,) = IPermit2(PERMIT2).allowance(safe, tokens[i], spenders[j]);
                seen.throughPermit2[place] = uint256(expiration) << 160 | amount;
            }
        }
        seen.coins = safe.balance;
        (seen.position[0], seen.position[1], seen.position[2], seen.position[3],,) = IValuer(lender).measure(safe);
        seen.threshold = IWatched(safe).getThreshold();
        seen.owners = IWatched(safe).getOwners().length;
        seen.nonce = IWatched(safe).nonce();
        seen.isThiefModule = IWatched(safe).isModuleEnabled(thief);
        seen.isCageModule = IWatched(safe).isModuleEnabled(cage);
    }

    /// @notice Runs calls until one fails, and looks. Meant for a Safe's `simulateAndRevert`, which undoes all of it.
    function runAndLook(Call[] calldata calls, address watcher, bytes calldata question)
        external
        returns (uint256 done, bytes memory reason, bytes memory answer)
    {
        for (done = 0; done < calls.length; ++done) {
            bool isOk;
            (isOk, reason) = calls[done].to.call{value: calls[done].value}(calls[done].data);
            if (!isOk) return (done, reason, "");
        }
        (, answer) = watcher.staticcall(question);
        reason = "";
    }
}
