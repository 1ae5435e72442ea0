// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IPermit2Witness {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}

/// @title Simulated x402 proxy for exact payments: pays whom the payer signed, as much as was signed
/// @notice Stands in on the local chain (31337) for the contract that does this on public networks.
contract SimulatedX402ExactProxy {
    struct Witness {
        address to;
        uint256 validAfter;
    }

    IPermit2Witness private constant PERMIT2 = IPermit2Witness(0x000000000022D473030F116dDEE9F6B43aC78BA3);
    bytes32 private constant WITNESS = keccak256("Witness(address to,uint256 validAfter)");
    string private constant TYPES =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)";

    event Settled();

    error InvalidDestination();
    error PaymentTooEarly();

    function settle(
        IPermit2Witness.PermitTransferFrom calldata permit,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        if (witness.to == address(0)) revert InvalidDestination();
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        bytes32 hash = keccak256(abi.encode(WITNESS, witness.to, witness.validAfter));
        PERMIT2.permitWitnessTransferFrom(
            permit,
            IPermit2Witness.SignatureTransferDetails(witness.to, permit.permitted.amount),
            owner,
            hash,
            TYPES,
            signature
        );
        emit Settled();
    }
}

/// @title Simulated x402 proxy for payments of up to an amount: the facilitator that was signed says how much
/// @notice Stands in on the local chain (31337) for the contract that does this on public networks.
contract SimulatedX402UptoProxy {
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    IPermit2Witness private constant PERMIT2 = IPermit2Witness(0x000000000022D473030F116dDEE9F6B43aC78BA3);
    bytes32 private constant WITNESS = keccak256("Witness(address to,address facilitator,uint256 validAfter)");
    string private constant TYPES = "Witness witness)TokenPermissions(address token,uint256 amount)"
        "Witness(address to,address facilitator,uint256 validAfter)";

    event Settled();

    error InvalidDestination();
    error PaymentTooEarly();
    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    function settle(
        IPermit2Witness.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external {
        if (msg.sender != witness.facilitator) revert UnauthorizedFacilitator();
        if (amount > permit.permitted.amount) revert AmountExceedsPermitted();
        if (witness.to == address(0)) revert InvalidDestination();
        if (block.timestamp < witness.validAfter) revert PaymentTooEarly();
        bytes32 hash = keccak256(abi.encode(WITNESS, witness.to, witness.facilitator, witness.validAfter));
        PERMIT2.permitWitnessTransferFrom(
            permit, IPermit2Witness.SignatureTransferDetails(witness.to, amount), owner, hash, TYPES, signature
        );
        emit Settled();
    }
}
