// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface IAllowingSafe {
    function execTransactionFromModuleReturnData(address to, uint256 value, bytes memory data, uint8 operation)
        external
        returns (bool success, bytes memory returnData);
}

/// @title Simulated allowance module: delegates of a Safe take so much of a token, again after so many minutes
/// @notice Stands in on the local chain (31337) for Safe's AllowanceModule 0.1.1, whose ABI it has. What it lets a
/// delegate do, it has the Safe do; a Safe obeys it once its owners enabled it.
contract SimulatedAllowanceModule {
    string public constant NAME = "Allowance Module";
    string public constant VERSION = "0.1.1";
    bytes32 public constant DOMAIN_SEPARATOR_TYPEHASH =
        keccak256("EIP712Domain(uint256 chainId,address verifyingContract)");
    bytes32 public constant ALLOWANCE_TRANSFER_TYPEHASH = keccak256(
        "AllowanceTransfer(address safe,address token,address to,uint96 amount,address paymentToken,uint96 payment,uint16 nonce)"
    );

    /// @dev A nonce of 0 says that nothing was ever allowed of this token.
    struct Allowance {
        uint96 amount;
        uint96 spent;
        uint16 resetTimeMin;
        uint32 lastResetMin;
        uint16 nonce;
    }

    /// @dev One link of a Safe's list; its index is the last 48 bits of the delegate's address.
    struct Delegate {
        address delegate;
        uint48 prev;
        uint48 next;
    }

    mapping(address safe => mapping(address delegate => mapping(address token => Allowance))) public allowances;
    mapping(address safe => mapping(address delegate => address[])) public tokens;
    mapping(address safe => mapping(uint48 index => Delegate)) public delegates;
    mapping(address safe => uint48 index) public delegatesStart;

    event AddDelegate(address indexed safe, address delegate);
    event RemoveDelegate(address indexed safe, address delegate);
    event ExecuteAllowanceTransfer(
        address indexed safe, address delegate, address token, address to, uint96 value, uint16 nonce
    );
    event PayAllowanceTransfer(
        address indexed safe, address delegate, address paymentToken, address paymentReceiver, uint96 payment
    );
    event SetAllowance(address indexed safe, address delegate, address token, uint96 allowanceAmount, uint16 resetTime);
    event ResetAllowance(address indexed safe, address delegate, address token);
    event DeleteAllowance(address indexed safe, address delegate, address token);

    error NoSuchDelegate();
    error DelegateIndexTaken();
    error ResetBaseInFuture();
    error NotTheDelegate();
    error MoreThanAllowed();
    error NoncesUsedUp();
    error TransferFailed();

    // ---- what a Safe says of itself

    function addDelegate(address delegate) external {
        uint48 index = _index(delegate);
        if (index == 0) revert NoSuchDelegate();
        address there = delegates[msg.sender][index].delegate;
        if (there == delegate) return;
        if (there != address(0)) revert DelegateIndexTaken();
        uint48 first = delegatesStart[msg.sender];
        delegates[msg.sender][index] = Delegate(delegate, 0, first);
        if (first != 0) delegates[msg.sender][first].prev = index;
        delegatesStart[msg.sender] = index;
        emit AddDelegate(msg.sender, delegate);
    }

    function removeDelegate(address delegate, bool removeAllowances) external {
        uint48 index = _index(delegate);
        Delegate memory gone = delegates[msg.sender][index];
        if (gone.delegate != delegate || delegate == address(0)) return;
        if (removeAllowances) {
            address[] storage named = tokens[msg.sender][delegate];
            for (uint256 at = 0; at < named.length; at++) {
                _forget(delegate, named[at]);
            }
        }
        if (gone.prev == 0) delegatesStart[msg.sender] = gone.next;
        else delegates[msg.sender][gone.prev].next = gone.next;
        if (gone.next != 0) delegates[msg.sender][gone.next].prev = gone.prev;
        delete delegates[msg.sender][index];
        emit RemoveDelegate(msg.sender, delegate);
    }

    function setAllowance(
        address delegate,
        address token,
        uint96 allowanceAmount,
        uint16 resetTimeMin,
        uint32 resetBaseMin
    ) external {
        if (!_isDelegate(msg.sender, delegate)) revert NoSuchDelegate();
        Allowance memory now_ = _current(msg.sender, delegate, token);
        if (now_.nonce == 0) {
            now_.nonce = 1;
            tokens[msg.sender][delegate].push(token);
        }
        uint32 minute = _minute();
        if (resetBaseMin > 0) {
            if (resetBaseMin > minute) revert ResetBaseInFuture();
            now_.lastResetMin = resetTimeMin == 0 ? minute : minute - (minute - resetBaseMin) % resetTimeMin;
        } else if (now_.lastResetMin == 0) {
            now_.lastResetMin = minute;
        }
        now_.amount = allowanceAmount;
        now_.resetTimeMin = resetTimeMin;
        allowances[msg.sender][delegate][token] = now_;
        emit SetAllowance(msg.sender, delegate, token, allowanceAmount, resetTimeMin);
    }

    function resetAllowance(address delegate, address token) external {
        Allowance memory now_ = _current(msg.sender, delegate, token);
        now_.spent = 0;
        allowances[msg.sender][delegate][token] = now_;
        emit ResetAllowance(msg.sender, delegate, token);
    }

    function deleteAllowance(address delegate, address token) external {
        _forget(delegate, token);
    }

    // ---- what a delegate takes

    /// @notice Pays `amount` of `token` to `to`, and `payment` of `paymentToken` to who sends this. Without a signature
    /// the sender has to be the delegate.
    function executeAllowanceTransfer(
        address safe,
        address token,
        address payable to,
        uint96 amount,
        address paymentToken,
        uint96 payment,
        address delegate,
        bytes memory signature
    ) external {
        uint16 nonce = allowances[safe][delegate][token].nonce;
        bytes32 hash = generateTransferHash(safe, token, to, amount, paymentToken, payment, nonce);
        if (_recover(hash, signature) != delegate || !_isDelegate(safe, delegate)) revert NotTheDelegate();
        if (nonce == type(uint16).max) revert NoncesUsedUp();
        _use(safe, delegate, token, amount);
        allowances[safe][delegate][token].nonce = nonce + 1;
        if (payment > 0) {
            _use(safe, delegate, paymentToken, payment);
            // The sender is paid, so that a signature may be carried by anybody.
            _pay(safe, paymentToken, msg.sender, payment);
            emit PayAllowanceTransfer(safe, delegate, paymentToken, msg.sender, payment);
        }
        _pay(safe, token, to, amount);
        emit ExecuteAllowanceTransfer(safe, delegate, token, to, amount, nonce);
    }

    // ---- what there is to see

    function getChainId() public view returns (uint256) {
        return block.chainid;
    }

    function generateTransferHash(
        address safe,
        address token,
        address to,
        uint96 amount,
        address paymentToken,
        uint96 payment,
        uint16 nonce
    ) public view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(DOMAIN_SEPARATOR_TYPEHASH, block.chainid, address(this)));
        bytes32 said = keccak256(
            abi.encode(ALLOWANCE_TRANSFER_TYPEHASH, safe, token, to, amount, paymentToken, payment, nonce)
        );
        return keccak256(abi.encodePacked(hex"1901", domain, said));
    }

    function getTokens(address safe, address delegate) external view returns (address[] memory) {
        return tokens[safe][delegate];
    }

    /// @return The amount, what is spent of it, its minutes, the minute of the last reset and the nonce, as of now.
    function getTokenAllowance(address safe, address delegate, address token)
        external
        view
        returns (uint256[5] memory)
    {
        Allowance memory now_ = _current(safe, delegate, token);
        return [
            uint256(now_.amount),
            uint256(now_.spent),
            uint256(now_.resetTimeMin),
            uint256(now_.lastResetMin),
            uint256(now_.nonce)
        ];
    }

    /// @param start Where to begin; 0 for the first.
    /// @return results One page of delegates.
    /// @return next Where the next page begins; 0 for none.
    function getDelegates(address safe, uint48 start, uint8 pageSize)
        external
        view
        returns (address[] memory results, uint48 next)
    {
        results = new address[](pageSize);
        uint256 count = 0;
        next = start == 0 ? delegatesStart[safe] : start;
        while (next != 0 && count < pageSize) {
            Delegate memory each = delegates[safe][next];
            results[count] = each.delegate;
            count++;
            next = each.next;
        }
        assembly ("memory-safe") {
            mstore(results, count)
        }
    }

    // ---- below

    function _use(address safe, address delegate, address token, uint96 amount) private {
        Allowance memory now_ = _current(safe, delegate, token);
        if (amount == 0 || amount > now_.amount || now_.spent > now_.amount - amount) revert MoreThanAllowed();
        now_.spent += amount;
        allowances[safe][delegate][token] = now_;
    }

    function _current(address safe, address delegate, address token) private view returns (Allowance memory now_) {
        now_ = allowances[safe][delegate][token];
        uint32 minute = _minute();
        if (now_.resetTimeMin > 0 && minute - now_.lastResetMin >= now_.resetTimeMin) {
            now_.spent = 0;
            now_.lastResetMin = minute - (minute - now_.lastResetMin) % now_.resetTimeMin;
        }
    }

    /// @dev The nonce stays, so that what was signed before is worth nothing under a new allowance.
    function _forget(address delegate, address token) private {
        Allowance storage kept = allowances[msg.sender][delegate][token];
        (kept.amount, kept.spent, kept.resetTimeMin, kept.lastResetMin) = (0, 0, 0, 0);
        emit DeleteAllowance(msg.sender, delegate, token);
    }

    function _pay(address safe, address token, address to, uint256 amount) private {
        bool isDone;
        bytes memory output;
        if (token == address(0)) {
            (isDone,) = IAllowingSafe(safe).execTransactionFromModuleReturnData(to, amount, "", 0);
        } else {
            bytes memory data = abi.encodeWithSignature("transfer(address,uint256)", to, amount);
            (isDone, output) = IAllowingSafe(safe).execTransactionFromModuleReturnData(token, 0, data, 0);
            if (output.length > 0) isDone = isDone && abi.decode(output, (bool));
        }
        if (!isDone) revert TransferFailed();
    }

    function _recover(bytes32 hash, bytes memory signature) private view returns (address) {
        if (signature.length == 0) return msg.sender;
        if (signature.length != 65) revert NotTheDelegate();
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 0x20))
            s := mload(add(signature, 0x40))
            v := byte(0, mload(add(signature, 0x60)))
        }
        // As Safe writes it: 1 stands for the sender, and more than 30 for a message that a wallet prefixed.
        if (v == 1) return msg.sender;
        if (v > 30) {
            hash = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash));
            v -= 4;
        }
        address signer = ecrecover(hash, v, r, s);
        if (signer == address(0)) revert NotTheDelegate();
        return signer;
    }

    function _isDelegate(address safe, address delegate) private view returns (bool) {
        return delegate != address(0) && delegates[safe][_index(delegate)].delegate == delegate;
    }

    function _index(address delegate) private pure returns (uint48) {
        return uint48(uint160(delegate));
    }

    function _minute() private view returns (uint32) {
        return uint32(block.timestamp / 60);
    }
}
