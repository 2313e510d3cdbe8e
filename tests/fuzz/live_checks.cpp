// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/live_checks.h"

#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/recording_file.h"

#include <algorithm>

namespace trainyard::fuzz {

namespace {

constexpr std::size_t kMostStoreBytes = std::size_t(4) << 20;

std::int64_t eventsOf(const Recording &part)
{
    std::size_t events = part.spanCount();
    for (const RankRecording &rank : part.ranks)
        events += rank.steps.size() + rank.collectives.size();
    for (const SampleSeries &series : part.series)
        events += series.at.size();
    return static_cast<std::int64_t>(events);
}

std::string faultOfBounds(const Recording &recording, const live::StoreLimits &limits)
{
    std::size_t collectives = 0, steps = 0;
    for (const RankRecording &rank : recording.ranks) {
        collectives += rank.collectives.size();
        steps += rank.steps.size();
    }
    const std::pair<std::size_t, std::size_t> bounds[] = { { recording.spanCount(), limits.spans },
        { collectives, limits.spans }, { steps, limits.steps }, { recording.ranks.size(), limits.ranks },
        { recording.series.size(), limits.series + 1 }, { recording.names.size(), limits.names },
        { recording.groups.size(), limits.groups } };
    for (const auto &[size, most] : bounds)
        if (size > most)
            return std::to_string(size) + " where there may be " + std::to_string(most);
    for (const SampleSeries &series : recording.series)
        if (series.at.size() > std::max(limits.recent + std::max<std::size_t>(limits.thinned, 8), limits.steps))
            return "a series of " + std::to_string(series.at.size()) + " points";
    return {};
}

} // namespace

live::StoreLimits tightLimits()
{
    live::StoreLimits limits;
    limits.spans = 100;
    limits.series = 12;
    limits.recent = limits.thinned = 8;
    limits.steps = 64;
    limits.ranks = 16;
    limits.names = 48;
    limits.groups = 8;
    return limits;
}

CheckedStore::CheckedStore()
    : m_store(tightLimits())
{
}

void CheckedStore::take(live::Batch &&batch)
{
    m_given += eventsOf(batch.part);
    m_store.take(std::move(batch));
}

std::string CheckedStore::fault(const live::SnapshotAsked &asked, bool isThorough)
{
    const auto snapshot = m_store.snapshot(asked);
    if (!snapshot)
        return {};
    const Recording &recording = *snapshot->recording;
    if (const auto checked = recording_file::checkRecording(recording); !checked)
        return "a snapshot is no recording: " + toString(checked.error());
    if (std::string fault = faultOfBounds(recording, tightLimits()); !fault.empty())
        return fault;
    std::int64_t sum = snapshot->counts.events + snapshot->counts.duplicates;
    for (const Dropped &one : snapshot->counts.dropped)
        sum += one.count;
    if (sum != m_given)
        return std::to_string(m_given) + " events were given, and " + std::to_string(sum) + " are told of";
    if (snapshot->counts.aged < 0 || snapshot->counts.thinned < 0)
        return "a negative count";
    if (m_store.bytes() > kMostStoreBytes)
        return std::to_string(m_store.bytes()) + " bytes are held";
    if (!isThorough)
        return {};
    const Recording whole = m_store.whole();
    if (const auto checked = recording_file::checkRecording(whole); !checked)
        return "the whole is no recording: " + toString(checked.error());
    if (whole.spanCount() < recording.spanCount())
        return "a snapshot shows more than there is";
    if (!formatRecording(whole))
        return "no file can be written of it";
    return makeRun(recording) ? "" : "no run can be made of it";
}

} // namespace trainyard::fuzz
