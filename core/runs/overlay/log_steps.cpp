// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/log_steps.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace trainyard {

namespace {

constexpr Moment kSecond = 1'000'000'000;
constexpr Moment kQuarter = 900 * kSecond; // zones differ by multiples of it
constexpr Moment kFarthestZone = 14 * 4 * kQuarter;
constexpr double kAgreement = 0.25; // of step times that belong together
constexpr double kLongestStep = 1e7; // seconds; what is above is no step time

bool isStepTime(double seconds)
{
    return seconds > 0 && seconds < kLongestStep; // false for NaN
}

std::string sourceName(const Recording &recording, std::uint32_t source)
{
    return source < recording.sources.size() ? recording.sources[source].file : std::string("one source");
}

/// Of the whole job; else the longest over the ranks that tell their own.
void readTimes(const Recording &recording, LogSteps &made)
{
    const SampleSeries *best = nullptr;
    int told = 0;
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kStepTime && series.isByStep && series.rank < 0) {
            ++told;
            best = !best || series.at.size() > best->at.size() ? &series : best;
        }
    for (const SampleSeries &series : recording.series) {
        if (series.name != samples::kStepTime || !series.isByStep || (best && &series != best))
            continue;
        for (std::size_t i = 0; i < std::min(series.at.size(), series.value.size()); ++i)
            if (isStepTime(series.value[i])) {
                double &seconds = made.seconds[series.at[i]];
                seconds = std::max(seconds, series.value[i]);
            } else {
                made.untimed.insert(series.at[i]);
            }
    }
    std::erase_if(made.untimed, [&](std::int64_t number) { return made.seconds.contains(number); });
    if (!made.untimed.empty())
        made.notes.push_back(untimedText(made));
    if (told > 1)
        made.notes.push_back("Several sources tell step times: those of " + sourceName(recording, best->source)
            + " count, which tells most steps");
}

/// Steps before which the log is silent for more than a day, or a hundred times as long as usual: another attempt.
std::set<std::int64_t> resumedAt(LogSteps &made)
{
    constexpr Moment kDay = 86'400 * kSecond;
    constexpr double kOtherAttempt = 100;
    std::vector<double> usual; // seconds a step
    for (auto next = made.ended.begin(), before = next; next != made.ended.end(); before = next++)
        if (next != before && next->second > before->second)
            usual.push_back(static_cast<double>(next->second - before->second) * 1e-9
                / static_cast<double>(next->first - before->first));
    std::ranges::sort(usual);
    const double middle = usual.empty() ? 0 : usual[(usual.size() - 1) / 2];
    std::set<std::int64_t> resumed;
    for (auto next = made.ended.begin(), before = next; next != made.ended.end(); before = next++) {
        const Moment gap = next->second - before->second;
        const auto steps = static_cast<double>(next->first - before->first);
        if (next == before || (gap <= kDay && static_cast<double>(gap) * 1e-9 <= kOtherAttempt * middle * steps))
            continue;
        resumed.insert(next->first);
        made.notes.push_back("Between step " + std::to_string(before->first) + " and step "
            + std::to_string(next->first) + " the log is silent for "
            + (gap > kDay ? wholeText(static_cast<double>(gap / kDay)) + (gap / kDay == 1 ? " day" : " days")
                          : secondsText(static_cast<double>(gap) * 1e-9))
            + ": another attempt begins there, and no time is made of it");
    }
    return resumed;
}

void readEnds(const Recording &recording, LogSteps &made)
{
    const SampleSeries *best = nullptr;
    for (const SampleSeries &series : recording.series)
        if (series.name == samples::kStepEnded && !series.isByStep)
            best = !best || series.at.size() > best->at.size() ? &series : best;
    if (!best)
        return;
    std::optional<std::int64_t> last;
    for (std::size_t i = 0; i < std::min(best->at.size(), best->value.size()); ++i) {
        if (!(std::abs(best->value[i]) < 1e15))
            continue;
        const auto number = std::llround(best->value[i]);
        // Several processes print the same line within moments: that is no restart
        const auto known = made.ended.lower_bound(number);
        if (last && number <= *last && known != made.ended.end() && best->at[i] - known->second > 10 * kSecond) {
            made.notes.push_back("The run was restarted: after step " + std::to_string(*last) + " came step "
                + std::to_string(number) + " again; the last attempt counts");
            made.firsts.insert(number);
            made.ended.erase(known, made.ended.end());
        }
        made.ended[number] = best->at[i];
        last = number;
    }
    const std::set<std::int64_t> resumed = resumedAt(made);
    made.firsts.insert(resumed.begin(), resumed.end());
    if (!made.seconds.empty())
        return;
    for (auto next = made.ended.begin(), before = next; next != made.ended.end(); before = next++)
        if (next != before && !resumed.contains(next->first)) {
            const double seconds = static_cast<double>(next->second - before->second) * 1e-9
                / static_cast<double>(next->first - before->first);
            if (isStepTime(seconds))
                made.seconds[next->first] = seconds;
        }
    if (!made.seconds.empty())
        made.notes.push_back("Nobody tells step times: they are the differences of the moments at which steps ended");
}

/// Step times that follow from what is told instead: from rates and batches, or DeepSpeed's timers of its three calls.
void deriveTimes(const Recording &recording, LogSteps &made)
{
    const auto named = [&](std::string_view name) -> const SampleSeries * {
        const auto at = std::ranges::find_if(recording.series, [&](const SampleSeries &series) {
            return series.isByStep && series.rank < 0 && series.where.empty() && series.name == name
                && series.at.size() == series.value.size();
        });
        return at == recording.series.end() ? nullptr : &*at;
    };
    const SampleSeries *rate = named(samples::kSamplesPerSecond), *batch = named(samples::kGlobalBatch);
    const SampleSeries *forward = named("timer.forward"), *backward = named("timer.backward"),
                       *update = named("timer.step");
    if (rate && batch && rate->at == batch->at) {
        for (std::size_t i = 0; i < rate->at.size(); ++i)
            if (const double seconds = batch->value[i] / rate->value[i]; isStepTime(seconds))
                made.seconds[rate->at[i]] = seconds;
        if (!made.seconds.empty())
            made.notes.push_back("Nobody tells step times: they are the global batch over the sequences per second");
    } else if (forward && backward && update && forward->at == backward->at && forward->at == update->at) {
        for (std::size_t i = 0; i < forward->at.size(); ++i)
            if (const double seconds = forward->value[i] + backward->value[i] + update->value[i]; isStepTime(seconds))
                made.seconds[forward->at[i]] = seconds;
        if (!made.seconds.empty())
            made.notes.push_back(
                "Nobody tells step times: they are the sums of the timers of forward, backward and step, without what "
                "is between them");
    }
}

/// Median of the log's ends beyond the windows', numbers moved by `added`; empty where none is in both.
std::optional<Moment> offsetAt(const std::vector<RunStep> &windows, const LogSteps &log, std::int64_t added)
{
    std::vector<Moment> away;
    for (const RunStep &window : windows)
        if (const auto ended = log.ended.find(window.number + added); ended != log.ended.end())
            away.push_back(ended->second - window.end);
    if (away.empty())
        return std::nullopt;
    const auto middle = away.begin() + static_cast<std::ptrdiff_t>(away.size() / 2);
    std::ranges::nth_element(away, middle);
    return *middle;
}

Moment zoneNear(Moment offset)
{
    return (offset >= 0 ? offset + kQuarter / 2 : offset - kQuarter / 2) / kQuarter * kQuarter;
}

std::string addedStepsText(std::int64_t added)
{
    return added == 0
        ? std::string("by their numbers, which are the log's")
        : "whose numbers are the profiler's " + std::string(added > 0 ? "+ " : "− ") + std::to_string(std::abs(added));
}

std::optional<StepJoin> joinByEnds(const std::vector<RunStep> &windows, const LogSteps &log)
{
    std::vector<double> lengths;
    for (const RunStep &window : windows)
        lengths.push_back(window.seconds);
    const auto tolerance = std::max<Moment>(static_cast<Moment>(medianOf(lengths) * 0.5e9), kSecond / 2);
    struct Candidate {
        bool isOtherZone;
        Moment away;
        std::int64_t added;
        Moment offset;
        [[nodiscard]] auto key() const { return std::tuple(isOtherZone, added == 0 ? -1 : away / kSecond, away); }
    };
    std::optional<Candidate> best;
    for (const auto &[number, ended] : log.ended) { // which of the log's steps may be the first window's
        const std::int64_t added = number - windows.front().number;
        const auto offset = offsetAt(windows, log, added);
        if (!offset || std::abs(*offset) > kFarthestZone)
            continue;
        const Moment zone = zoneNear(*offset);
        const Candidate candidate { zone != 0, std::abs(*offset - zone), added, *offset };
        if (candidate.away <= tolerance && (!best || candidate.key() < best->key()))
            best = candidate;
    }
    if (!best)
        return std::nullopt;
    const double seconds = static_cast<double>(best->offset) * 1e-9;
    return StepJoin { true, best->added, best->offset,
        "Steps of log and profiler are joined by when they ended, " + addedStepsText(best->added)
            + ": the log's clock is " + secondsText(std::abs(seconds)) + (seconds < 0 ? " behind" : " ahead") };
}

} // namespace

std::string untimedText(const LogSteps &log)
{
    return log.untimed.size() == 1
        ? "Step " + std::to_string(*log.untimed.begin()) + " tells no usable time and does not count"
        : wholeText(double(log.untimed.size())) + " steps tell no usable time and do not count";
}

LogSteps logSteps(const Recording &recording)
{
    LogSteps made;
    readTimes(recording, made);
    readEnds(recording, made);
    if (made.seconds.empty())
        deriveTimes(recording, made);
    return made;
}

StepJoin joinSteps(const std::vector<RunStep> &windows, bool areAnnotated, const LogSteps &log)
{
    if (windows.empty() || (log.seconds.empty() && log.ended.empty()))
        return {};
    if (!log.ended.empty())
        if (auto joined = joinByEnds(windows, log))
            return *std::move(joined);
    std::vector<double> apart; // relative
    for (const RunStep &window : windows)
        if (const auto told = log.seconds.find(window.number); areAnnotated && told != log.seconds.end())
            apart.push_back(std::abs(told->second - window.seconds) / std::max(told->second, window.seconds));
    StepJoin join;
    if (apart.empty()) {
        join.note = "Nothing tells which of the log's steps the profiler's are: the steps are the profiler's, and the "
                    "log's quantities keep the log's numbers";
    } else if (const double middle = medianOf(apart); middle <= kAgreement) {
        join.isJoined = true;
        join.note = "Steps of log and profiler are joined by their numbers; their times agree within "
            + percentText(middle) + ", and nothing else tells that both count alike";
    } else {
        join.note = "Steps of log and profiler with equal numbers differ by " + percentText(middle)
            + " in time: they are not joined, and the steps are the profiler's";
    }
    return join;
}

} // namespace trainyard
