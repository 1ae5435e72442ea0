// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {WINDOW_SECONDS} from "./CageTypes.sol";

/// @dev Sums over the last 24 hours. Amounts of one quarter of an hour share an entry, which counts until the youngest
/// of them is a day old: a sum is never too small, and no window holds more than 98 entries that count.
struct Window {
    uint192 sum;
    uint32 first;
    uint32 next;
    mapping(uint32 index => Entry) entries;
}

struct Entry {
    uint32 slot;
    uint192 amount;
}

uint256 constant SLOT_SECONDS = 900;
uint256 constant SLOTS = WINDOW_SECONDS / SLOT_SECONDS;

error AmountTooLarge(uint256 amount);

using {read, add} for Window global;

/// @return sum what counts now.
function read(Window storage window) view returns (uint256 sum) {
    sum = window.sum;
    uint256 slot = block.timestamp / SLOT_SECONDS;
    for (uint32 i = window.first; i != window.next; ++i) {
        Entry storage entry = window.entries[i];
        if (entry.slot + SLOTS >= slot) break;
        sum -= entry.amount;
    }
}

/// @dev Counts `amount` from now on, and forgets what no longer counts. The caller has judged the sum.
function add(Window storage window, uint256 amount) {
    if (amount > type(uint128).max) revert AmountTooLarge(amount);
    uint32 slot = uint32(block.timestamp / SLOT_SECONDS);
    uint32 first = window.first;
    uint32 next = window.next;
    uint192 sum = window.sum;
    while (first != next && window.entries[first].slot + SLOTS < slot) {
        sum -= window.entries[first].amount;
        delete window.entries[first];
        ++first;
    }
    if (first != next && window.entries[next - 1].slot == slot) {
        window.entries[next - 1].amount += uint192(amount);
    } else {
        window.entries[next] = Entry(slot, uint192(amount));
        ++next;
    }
    window.sum = sum + uint192(amount);
    window.first = first;
    window.next = next;
}
