// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/check_recording.h"

#include <algorithm>

namespace trainyard::recording_file {

namespace {

/// Counts what it leaves out, by the source that told it.
class Bounds {
public:
    explicit Bounds(Recording &recording)
        : m_recording(recording)
    {
    }

    void apply()
    {
        for (CommunicatorGroup &group : m_recording.groups)
            if (!std::ranges::all_of(group.ranks, [](int rank) { return rank >= 0 && rank < kMostRanks; })) {
                group.ranks.clear();
                count(kNoIndex, kManyRanks, 1);
            }
        for (RankRecording &rank : m_recording.ranks)
            ofRank(rank);
        for (SampleSeries &series : m_recording.series) {
            if (series.rank >= kMostRanks) {
                series.rank = -1;
                count(series.source, kManyRanks, 1);
            }
            if (series.isByStep)
                ofSteps(series);
        }
        std::erase_if(m_recording.series, [](const SampleSeries &series) { return series.at.empty(); });
    }

private:
    static constexpr const char *kManyRanks = "numbers of ranks that no job has", *kManySteps = "steps beyond 2^53";

    static bool isStep(std::int64_t number) { return number > -kMostSteps && number < kMostSteps; }

    void ofRank(RankRecording &rank)
    {
        if (rank.rank >= kMostRanks || rank.worldSize > kMostRanks) {
            rank.rank = rank.rank >= kMostRanks ? -1 : rank.rank;
            rank.worldSize = rank.worldSize > kMostRanks ? 0 : rank.worldSize;
            count(rank.source, kManyRanks, 1);
        }
        const auto lost = std::erase_if(rank.steps, [](const RecordedStep &step) { return !isStep(step.number); });
        count(rank.source, kManySteps, static_cast<std::int64_t>(lost));
        if (!std::ranges::is_sorted(rank.collectives, {}, &RecordedCollective::start))
            std::ranges::stable_sort(rank.collectives, {}, &RecordedCollective::start);
    }

    void ofSteps(SampleSeries &series)
    {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < series.at.size() && i < series.value.size(); ++i)
            if (isStep(series.at[i])) {
                series.at[kept] = series.at[i];
                series.value[kept++] = series.value[i];
            }
        count(series.source, kManySteps, static_cast<std::int64_t>(series.at.size() - kept));
        series.at.resize(kept);
        series.value.resize(kept);
    }

    void count(std::uint32_t source, const char *reason, std::int64_t number)
    {
        if (number <= 0 || m_recording.sources.empty())
            return;
        auto &dropped = m_recording.sources[source < m_recording.sources.size() ? source : 0].dropped;
        const auto known = std::ranges::find(dropped, reason, &Dropped::reason);
        if (known != dropped.end())
            known->count += number;
        else
            dropped.push_back({ reason, number });
    }

    Recording &m_recording;
};

} // namespace

void dropOutOfBounds(Recording &recording)
{
    Bounds(recording).apply();
}

} // namespace trainyard::recording_file
