// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/coverage.h"

#include <array>
#include <cstdint>
#include <vector>

namespace {

constexpr std::size_t kSize = std::size_t(1) << 17;

std::array<bool, kSize> isHit {}, isKnown {};
std::array<std::uint32_t, kSize> hits {};
std::size_t hitCount = 0, known = 0;
std::uintptr_t lastPlace = 0;

} // namespace

// The compiler calls this at the head of every block. Addresses are taken from one of our own, so that where the system
// loads the program does not matter.
extern "C" void __sanitizer_cov_trace_pc();
extern "C" void __sanitizer_cov_trace_pc()
{
    const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))
        - reinterpret_cast<std::uintptr_t>(&__sanitizer_cov_trace_pc);
    const std::size_t edge = ((place * 0x9e3779b97f4a7c15ULL >> 40) ^ lastPlace) % kSize;
    lastPlace = (place * 0x9e3779b97f4a7c15ULL >> 41);
    if (!isHit[edge]) {
        isHit[edge] = true;
        hits[hitCount++] = std::uint32_t(edge);
    }
}

namespace trainyard::fuzz {

void startInput()
{
    for (std::size_t i = 0; i < hitCount; ++i)
        isHit[hits[i]] = false;
    hitCount = 0;
    lastPlace = 0;
}

bool isNew()
{
    const std::size_t before = known;
    for (std::size_t i = 0; i < hitCount; ++i) {
        known += !isKnown[hits[i]];
        isKnown[hits[i]] = true;
    }
    return known > before;
}

std::size_t edgesSeen()
{
    return known;
}

} // namespace trainyard::fuzz
