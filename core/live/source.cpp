// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/source.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace trainyard::live {

namespace {

constexpr double kFirstSeconds = 1, kMostSeconds = 60;

} // namespace

const char *nameOf(SourceState state)
{
    switch (state) {
    case SourceState::Idle:
        return "Idle";
    case SourceState::Connecting:
        return "Connecting";
    case SourceState::Live:
        return "Live";
    case SourceState::Stale:
        return "Stale";
    case SourceState::BackingOff:
        return "Trying again";
    case SourceState::Paused:
        return "Paused";
    case SourceState::Ended:
        return "Ended";
    case SourceState::Refused:
        return "Refused";
    }
    return "";
}

double backOffSeconds(int tries, double random)
{
    const double whole = std::min(kMostSeconds, kFirstSeconds * std::exp2(std::clamp(tries - 1, 0, 16)));
    return whole * (0.5 + 0.5 * random);
}

Moment unixNow()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace trainyard::live
