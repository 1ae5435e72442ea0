// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ILentAccount {
    function execTransactionFromModule(address to, uint256 value, bytes calldata data, uint8 operation)
        external
        returns (bool);

    function whoCalls() external view returns (address);
}

/// @title What a Safe does with a loan within one transaction
/// @notice Owners set it as their Safe's fallback handler and enable it as a module. The Safe announces a lender and
/// the steps; when that lender hands the loan over, in the same block, exactly these steps are run as calls of the Safe,
/// which the lender is then paid back out of. Nobody but the Safe announces, and what is announced is run once.
/// @dev Holds nothing and has no owner. A step is never a delegatecall. A Safe hands on what strangers call it with, so
/// that `msg.sender` is the Safe whoever asked; who asked is in the last 20 bytes, which the Safe appends. What the Safe
/// itself calls ends with its own address. An account is only ever acted on by what the account itself announced.
contract LoanCallback {
    struct Step {
        address to;
        uint256 value;
        bytes data;
    }

    error NotTheAccount(address caller);
    error AccountDoesNotTellWhoCalls(address account);
    error NotAnnounced(address lender);
    error NotTheAccountsLoan(address initiator);
    error StepForbidden(uint256 index);
    error StepFailed(uint256 index);

    mapping(address account => bytes32 announced) private _announced;

    /// @notice `lender` may hand over a loan with `steps`, which is what it is asked to pass on: `abi.encode(Step[])`.
    /// @dev The calldata ends with the account's address: after the arguments where it calls here itself, appended by
    /// its fallback where it calls itself.
    function announce(address lender, bytes calldata steps) external {
        if (_caller() != msg.sender) revert NotTheAccount(_caller());
        // An account that hands calls on without appending who made them would let anybody write anything there.
        if (ILentAccount(msg.sender).whoCalls() != address(this)) revert AccountDoesNotTellWhoCalls(msg.sender);
        _announced[msg.sender] = _digest(lender, steps);
    }

    /// @notice Who called the account, as the account tells its fallback handler.
    function whoCalls() external pure returns (address) {
        return _caller();
    }

    /// @notice Morpho's callback, which it makes to whoever asked for the loan.
    function onMorphoFlashLoan(uint256, bytes calldata steps) external {
        _run(steps);
    }

    /// @notice Aave's callback, which it makes to whomever a borrower names.
    function executeOperation(address, uint256, uint256, address initiator, bytes calldata steps)
        external
        returns (bool)
    {
        // Anybody may lend to the account in its name; only its own loans run anything.
        if (steps.length != 0 && initiator != msg.sender) revert NotTheAccountsLoan(initiator);
        _run(steps);
        return true;
    }

    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC721Received.selector;
    }

    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4) {
        return this.onERC1155Received.selector;
    }

    function onERC1155BatchReceived(address, address, uint256[] calldata, uint256[] calldata, bytes calldata)
        external
        pure
        returns (bytes4)
    {
        return this.onERC1155BatchReceived.selector;
    }

    /// @dev A loan without steps does nothing, and so asks for no announcement.
    function _run(bytes calldata steps) private {
        if (steps.length == 0) return;
        address lender = _caller();
        if (_announced[msg.sender] != _digest(lender, steps)) revert NotAnnounced(lender);
        delete _announced[msg.sender];
        Step[] memory list = abi.decode(steps, (Step[]));
        for (uint256 i = 0; i < list.length; ++i) {
            Step memory step = list[i];
            // Neither who owns the account nor what runs next is for a step to change.
            if (step.to == msg.sender || step.to == address(this)) revert StepForbidden(i);
            bool isDone = ILentAccount(msg.sender).execTransactionFromModule(step.to, step.value, step.data, 0);
            if (!isDone) revert StepFailed(i);
        }
    }

    /// @dev With the block, so that nothing announced is left standing for another.
    function _digest(address lender, bytes calldata steps) private view returns (bytes32) {
        return keccak256(abi.encode(block.number, lender, keccak256(steps)));
    }

    /// @dev Who called the account, in what it hands on. Reverts where there are no 20 bytes after the function.
    function _caller() private pure returns (address) {
        return address(bytes20(msg.data[4:][msg.data.length - 24:]));
    }
}
