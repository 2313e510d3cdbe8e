#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How often tests draw something random. ctest draws enough to reach each kind of case; scripts/trials so many times
// as much.

#include <cstdlib>

namespace trainyard::test {

/// `ofCtest`, times TRAINYARD_TRIALS.
inline int trials(int ofCtest)
{
    const char *times = std::getenv("TRAINYARD_TRIALS");
    return times ? ofCtest * std::atoi(times) : ofCtest;
}

} // namespace trainyard::test
