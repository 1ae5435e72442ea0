// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IModuleAccount {
    function execTransactionFromModule(address to, uint256 value, bytes calldata data, uint8 operation)
        external
        returns (bool);
}

/// @title What a Safe does with a loan within one transaction
/// @notice Owners set it as their Safe's fallback handler and enable it as a module. The Safe announces a lender and
/// the steps; when that lender hands the loan over, in the same batch, exactly these steps are run as calls of the Safe,
/// which the lender is then paid back out of. Nobody but the Safe announces, and what is announced is run once.
/// @dev Holds nothing and has no owner. A step is never a delegatecall. An account is only ever acted on by what the
/// account itself announced; who calls without an account behind it acts on itself.
contract LoanCallback {
    struct Step {
        address to;
        uint256 value;
        bytes data;
    }

    error NotAnnounced(address lender);
    error NotTheAccountsLoan(address initiator);
    error StepFailed(uint256 index);

    mapping(address account => bytes32 announced) private _announced;

    /// @notice `lender` may hand over a loan with `steps`, which is what it is asked to pass on: `abi.encode(Step[])`.
    function announce(address lender, bytes calldata steps) external {
        _announced[msg.sender] = _digest(lender, steps);
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
        address lender = _sender();
        if (_announced[msg.sender] != _digest(lender, steps)) revert NotAnnounced(lender);
        delete _announced[msg.sender];
        Step[] memory list = abi.decode(steps, (Step[]));
        for (uint256 i; i < list.length; ++i) {
            Step memory step = list[i];
            bool isDone = IModuleAccount(msg.sender).execTransactionFromModule(step.to, step.value, step.data, 0);
            if (!isDone) revert StepFailed(i);
        }
    }

    function _digest(address lender, bytes calldata steps) private pure returns (bytes32) {
        return keccak256(abi.encode(lender, keccak256(steps)));
    }

    /// @dev Who called the Safe, which appends it to what it hands on.
    function _sender() private pure returns (address) {
        return address(bytes20(msg.data[msg.data.length - 20:]));
    }
}
