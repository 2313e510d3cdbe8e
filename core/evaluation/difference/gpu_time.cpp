// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/gpu_time_internal.h"

#include "core/evaluation/difference/places_internal.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::difference {

namespace {

constexpr GpuNanoseconds stoppedProduct(GpuNanoseconds a, GpuNanoseconds b)
{
    GpuNanoseconds product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<GpuNanoseconds>::max() : product;
}

class GpuTimeTable {
public:
    GpuTimeTable(bool byDatacenter, const TimeWindow &window)
        : m_places(byDatacenter)
        , m_window(window)
    {
    }

    void add(const Evaluation &evaluation, const std::vector<Lane> &lanes, GpuNanoseconds GpuTimeDifference::*side)
    {
        for (const Lane &lane : lanes) {
            std::array<Nanoseconds, kWorkKindCount> time {};
            std::array<bool, kWorkKindCount> isThere {};
            for (const std::uint32_t span : lane.spans) {
                const auto kind = std::size_t(evaluation.timeline.kind[span]);
                time[kind] = stoppedSum(time[kind], timeInside(evaluation.timeline, span));
                isThere[kind] = true;
            }
            const std::int64_t gpus = gpusOf(evaluation, lane);
            const Place place = m_places.of(evaluation, lane);
            for (std::size_t kind = 0; kind < time.size(); ++kind) {
                if (!isThere[kind])
                    continue;
                const GpuTimeDifference none { place.name, place.stage, lane.stream, WorkKind(kind) };
                GpuTimeDifference &row =
                    m_rows.try_emplace({ place.order, lane.stream, WorkKind(kind) }, none).first->second;
                row.*side = stoppedSum(row.*side, stoppedProduct(time[kind], gpus));
            }
        }
    }

    [[nodiscard]] std::vector<GpuTimeDifference> rows() const
    {
        std::vector<GpuTimeDifference> all;
        for (const auto &[key, row] : m_rows)
            all.push_back(row);
        return all;
    }

private:
    [[nodiscard]] Nanoseconds timeInside(const Timeline &timeline, std::uint32_t span) const
    {
        return std::max<Nanoseconds>(
            0, std::min(timeline.end[span], m_window.to) - std::max(timeline.start[span], m_window.from));
    }

    Places m_places;
    TimeWindow m_window;
    std::map<std::tuple<int, Stream, WorkKind>, GpuTimeDifference> m_rows;
};

} // namespace

std::vector<GpuTimeDifference> gpuTimes(const Evaluation &before, const std::vector<Lane> &lanesBefore,
    const Evaluation &after, const std::vector<Lane> &lanesAfter, bool byDatacenter, const TimeWindow &window)
{
    GpuTimeTable table(byDatacenter, window);
    table.add(before, lanesBefore, &GpuTimeDifference::before);
    table.add(after, lanesAfter, &GpuTimeDifference::after);
    return table.rows();
}

} // namespace trainyard::difference
