// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/batch_tier.h"

#include "core/planner/score/uniform_plan.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

namespace {

/// Of so many that were given at least half have to go through the lanes.
constexpr std::int64_t kTried = 256;
/// One worker takes so many at once at least, since lanes are filled by plans of one topology.
constexpr std::size_t kLeastOfChunk = 32;

} // namespace

BatchTier::BatchTier(const SearchSpace &space, const Catalogue &catalogue, std::size_t workers, bool takesAny)
    : m_space(space)
    , m_isRetired(!takesAny)
{
    m_isRetired |= hasJobs(*space.base());
    if (m_isRetired)
        return;
    for (const auto &hinders : neverPlain()) {
        Hindrance hindrance { -1, { hinders(*space.base()) } };
        for (std::size_t a = 0; a < space.axes().size() && hindrance.axis < 0; ++a) {
            std::vector<bool> at;
            for (const AxisValue &value : space.axes()[a].values) {
                Plan with = *space.base();
                value.set(with);
                at.push_back(hinders(with));
            }
            if (std::ranges::find(at, !hindrance.at.front()) != at.end())
                hindrance = { int(a), std::move(at) };
        }
        m_hindrances.push_back(std::move(hindrance));
    }
    for (std::size_t i = 0; i < workers; ++i)
        m_runners.push_back(std::make_unique<BatchRunner>(space, catalogue));
}

bool BatchTier::takes(const Candidate &candidate) const
{
    return !m_isRetired && std::ranges::none_of(m_hindrances, [&](const Hindrance &hindrance) {
        return hindrance.at[hindrance.axis < 0 ? 0 : candidate[std::size_t(hindrance.axis)]];
    });
}

std::vector<Outcome> BatchTier::run(
    SearchThreads &threads, const std::vector<std::uint64_t> &numbers, const std::stop_token &stop)
{
    std::vector<std::size_t> order(numbers.size()); // neighbours share their topology
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::sort(order, {}, [&](std::size_t i) { return numbers[i]; });
    std::vector<Candidate> candidates;
    for (const std::size_t i : order)
        candidates.push_back(m_space.candidate(numbers[i]));
    std::vector<Outcome> sorted(numbers.size());
    const std::size_t size = std::max(kLeastOfChunk, (numbers.size() + threads.workers() - 1) / threads.workers());
    threads.each((numbers.size() + size - 1) / size, [&](std::size_t chunk, std::size_t worker) {
        const std::size_t first = chunk * size, count = std::min(size, numbers.size() - first);
        m_runners[worker]->run(
            std::span(candidates).subspan(first, count), std::span(sorted).subspan(first, count), stop);
    });
    std::vector<Outcome> outcomes(numbers.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        outcomes[order[i]] = sorted[i];
    m_given += std::int64_t(numbers.size());
    std::int64_t taken = 0;
    for (const auto &runner : m_runners)
        taken += runner->inLanes();
    m_isRetired = m_given >= kTried && 2 * taken < m_given;
    return outcomes;
}

} // namespace trainyard
