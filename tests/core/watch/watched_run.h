#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Generated runs under their plan as a watchman sees them, and its alarms as text.

#include "core/watch/watchman.h"
#include "tests/core/overlay/recorded_run.h"
#include "tests/core/overlay/sample_runs.h"

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
