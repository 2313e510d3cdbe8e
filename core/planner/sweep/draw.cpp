// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/draw.h"

#include <bit>

namespace trainyard {

namespace {

constexpr int kRounds = 6;

/// Bits that depend on all bits of it (the finalizer of SplitMix64, G. Steele and others, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

} // namespace

std::uint64_t drawn(std::uint64_t index, std::uint64_t bound, std::uint64_t seed)
{
    if (bound < 2)
        return 0;
    const int half = (int(std::bit_width(bound - 1)) + 1) / 2;
    const std::uint64_t mask = (std::uint64_t(1) << half) - 1;
    do {
        std::uint64_t left = index >> half, right = index & mask;
        for (std::uint64_t round = 0; round < kRounds; ++round) {
            const std::uint64_t next = left ^ (mixed(mixed(seed * kRounds + round) ^ right) & mask);
            left = right;
            right = next;
        }
        index = left << half | right;
    } while (index >= bound);
    return index;
}

} // namespace trainyard
