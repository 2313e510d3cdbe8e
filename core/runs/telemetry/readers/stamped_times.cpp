// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/stamped_times.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr Moment kDay = Moment(86'400) * 1'000'000'000;
constexpr double kOtherAttempt = 100; // usual steps without a line
constexpr std::size_t kLines = 8, kDifferences = 127, kEnough = 3, kMostHeldDifferences = 4'096;

} // namespace

void StampedTimes::add(std::int64_t step, Moment at)
{
    if (!m_stamps.empty()) {
        const Difference own { step, step - m_stamps.back().step, at - m_stamps.back().at };
        if (own.steps > 0 && own.time > 0 && m_held.size() < kMostHeldDifferences) {
            m_held.push_back(own);
            m_latest.push_back(static_cast<double>(own.time) / static_cast<double>(own.steps));
            if (m_latest.size() > kDifferences)
                m_latest.pop_front();
        }
    }
    m_stamps.push_back({ step, at });
    if (m_stamps.size() > kLines)
        m_stamps.pop_front();
}

std::optional<Moment> StampedTimes::lately(std::int64_t step) const
{
    const auto known =
        std::find_if(m_stamps.rbegin(), m_stamps.rend(), [&](const Stamp &stamp) { return stamp.step == step; });
    return known != m_stamps.rend() ? std::optional(known->at) : std::nullopt;
}

double StampedTimes::usual() const
{
    std::vector<double> sorted(m_latest.begin(), m_latest.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

void StampedTimes::give(bool isLast, const std::function<void(std::int64_t step, double seconds)> &out)
{
    if (m_held.empty() || (m_latest.size() < kEnough && !isLast))
        return;
    const double longest = kOtherAttempt * usual();
    for (const Difference &own : m_held) {
        const double steps = static_cast<double>(own.steps), time = static_cast<double>(own.time);
        if (own.time > kDay || time > longest * steps) {
            ++m_gaps;
            continue;
        }
        m_hasGiven = true;
        out(own.step, time / steps / 1e9);
    }
    m_held.clear();
}

} // namespace trainyard::readers
