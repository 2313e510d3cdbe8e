// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/decode_pool.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/prefill/served_model.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kMostStay = 1e14; // nanoseconds, more than a day: sums stay in range

} // namespace

DecodeCapacity decodeCapacity(
    const GpuSpec &gpu, std::int64_t gpus, const std::vector<DecodedModel> &models, double outputTokens)
{
    double weights = 0, longest = 0, flops = 0;
    for (const DecodedModel &decoded : models) {
        weights += servedWeights(*decoded.model).value;
        longest = std::max(longest, kvCacheBytes(*decoded.model, decoded.promptTokens + outputTokens).value);
        flops = std::max(flops, 2 * activeParameters(*decoded.model));
    }
    const auto memory = double(gpu.memoryBytes);
    DecodeCapacity capacity;
    capacity.gpusOfReplica = std::max<std::int64_t>(1, std::int64_t(std::ceil((weights + longest) / memory)));
    const std::int64_t replicas = gpus / capacity.gpusOfReplica;
    if (replicas == 0 || longest <= 0)
        return capacity;
    const auto ranks = double(capacity.gpusOfReplica);
    const double requests = std::floor((ranks * memory - weights) / longest);
    capacity.requests = replicas * std::int64_t(requests);
    const double reads = (weights + requests * longest) / (ranks * gpu.memoryGBps * 1e9);
    const double computes = requests * flops / (ranks * gpu.peakTflops[std::size_t(Precision::Bf16)] * 1e12);
    const double step = std::max(reads, computes) * 1e9;
    capacity.step = Nanoseconds(std::ceil(std::min(step, kMostStay)));
    capacity.stay = Nanoseconds(std::min(outputTokens * double(capacity.step), kMostStay));
    return capacity;
}

/// No stretch of a stay may have more starts in it than there is room.
bool DecodeRoom::hasRoom(Nanoseconds start, int count) const
{
    if (count > m_requests)
        return false;
    const auto before = std::ranges::lower_bound(m_starts, start + 1) - m_starts.begin();
    const auto size = std::ptrdiff_t(m_starts.size()) + count;
    const auto at = [&](std::ptrdiff_t i) {
        return i < before ? m_starts[std::size_t(i)] : i < before + count ? start : m_starts[std::size_t(i - count)];
    };
    for (std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, before - m_requests); first + m_requests < size; ++first) {
        if (first >= before + count)
            break;
        if (at(first + m_requests) - at(first) < m_stay)
            return false;
    }
    return true;
}

void DecodeRoom::take(Nanoseconds start, int count, Nanoseconds now)
{
    while (!m_starts.empty() && m_starts.front() + m_stay <= now)
        m_starts.pop_front();
    m_starts.insert(std::ranges::upper_bound(m_starts, start), std::size_t(count), start);
}

} // namespace trainyard
