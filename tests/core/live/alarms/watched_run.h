#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Generated runs under their plan as a watchman sees them, and its alarms as text.

#include "core/live/alarms/watchman.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"

#include <cmath>
#include <random>

namespace trainyard::test {

inline RecordedRunOptions watchedOptions(unsigned seed, int steps)
{
    RecordedRunOptions options;
    options.seed = seed;
    options.steps = steps;
    options.sendsTrueBytes = true;
    return options;
}

inline RunOverlayPtr overlaid(const EvaluationPtr &evaluation, const RecordedRunOptions &options)
{
    return overlayRun(evaluation, makeRun(recordRun(evaluation, options).recording), {});
}

inline std::vector<watch::Alarm> alarmsOf(const EvaluationPtr &evaluation, const RecordedRunOptions &options)
{
    watch::Watchman watchman;
    watchman.look(*overlaid(evaluation, options), {}, 0);
    return watchman.alarms();
}

/// As a live store gives it: spans and collectives of these steps alone, by index.
inline Recording stepsOf(const Recording &whole, std::size_t first, std::size_t behind)
{
    Recording part = whole;
    for (RankRecording &rank : part.ranks) {
        const Moment from = rank.steps[first].start, to = rank.steps[behind - 1].end;
        const auto isIn = [&](Moment start) { return start >= from && start < to; };
        std::vector<std::vector<std::uint32_t>> indexOf;
        for (RecordedStream &stream : rank.streams) {
            RecordedSpans kept;
            std::vector<std::uint32_t> &index = indexOf.emplace_back(stream.spans.size(), kNoIndex);
            for (std::size_t i = 0; i < stream.spans.size(); ++i) {
                if (!isIn(stream.spans.start[i]))
                    continue;
                index[i] = std::uint32_t(kept.size());
                kept.start.push_back(stream.spans.start[i]);
                kept.duration.push_back(stream.spans.duration[i]);
                kept.name.push_back(stream.spans.name[i]);
                kept.work.push_back(stream.spans.work[i]);
                if (i < stream.spans.launchedAt.size())
                    kept.launchedAt.push_back(stream.spans.launchedAt[i]);
            }
            stream.spans = std::move(kept);
        }
        std::erase_if(rank.collectives, [&](const RecordedCollective &one) { return !isIn(one.start); });
        for (RecordedCollective &one : rank.collectives)
            one.span = indexOf[one.stream][one.span];
        rank.steps = { rank.steps.begin() + std::ptrdiff_t(first), rank.steps.begin() + std::ptrdiff_t(behind) };
    }
    return part;
}

/// A log's step times, from step 1 on.
inline Recording logOf(const std::vector<double> &seconds, Moment zero = 1'750'000'000'000'000'000)
{
    Recording recording;
    recording.zero = zero;
    SampleSeries times { .name = "step_time", .unit = "s", .isByStep = true }, ended { .name = "step_ended" };
    double now = 0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        now += seconds[i];
        times.at.push_back(Moment(i) + 1);
        times.value.push_back(seconds[i]);
        ended.at.push_back(Moment(now * 1e9));
        ended.value.push_back(double(i) + 1);
    }
    recording.series = { times, ended };
    return recording;
}

/// The steps of a log whose times rise by a share from one step to another.
inline std::vector<double> loggedSteps(unsigned seed, int count, double more, int first, int behind)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i)
        seconds.push_back(2 * std::exp(0.005 * normal(random)) * (i >= first && i < behind ? 1 + more : 1));
    return seconds;
}

inline QByteArray textOf(const std::vector<watch::Alarm> &alarms)
{
    QByteArray text;
    for (const watch::Alarm &alarm : alarms)
        text += QByteArray(nameOf(alarm.kind)) + " | " + QByteArray::fromStdString(alarm.place) + " | "
            + QByteArray::number(qlonglong(alarm.firstStep)) + ".." + QByteArray::number(qlonglong(alarm.lastStep))
            + (alarm.isOver() ? " over" : " holds") + " | " + QByteArray::number(alarm.share) + " | "
            + QByteArray::number(alarm.secondsPerStep) + " s | " + QByteArray::fromStdString(alarm.sentence) + "\n";
    return text;
}

} // namespace trainyard::test
