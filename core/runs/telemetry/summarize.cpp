// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/summarize.h"

#include "core/runs/telemetry/kernel_classes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace trainyard {

namespace {

constexpr std::string_view kStep = "ProfilerStep#";

bool beginsWithOneOf(std::string_view name, std::span<const std::string_view> words)
{
    return std::ranges::any_of(words, [&](std::string_view word) { return name.starts_with(word); });
}

bool holdsOneOf(std::string_view name, std::span<const std::string_view> words)
{
    return std::ranges::any_of(words, [&](std::string_view word) { return name.find(word) != name.npos; });
}

/// HTA reads microseconds as doubles, which hold a quarter of one where they are Unix times, and rounds after adding.
class HtaClock {
public:
    HtaClock(const Recording &recording, const RankRecording &rank)
        : m_added(recording.zero - rank.timeBase)
    {
    }
    [[nodiscard]] std::int64_t start(Moment start) const
    {
        const Moment told = start + m_added;
        return told % 1000 == 0 ? told / 1000 : static_cast<std::int64_t>(std::ceil(microseconds(told)));
    }
    [[nodiscard]] Interval rounded(Moment begin, std::int64_t duration) const
    {
        const Moment told = begin + m_added;
        if (told % 1000 == 0 && duration % 1000 == 0)
            return { told / 1000, (told + duration) / 1000 };
        return { start(begin), static_cast<std::int64_t>(std::floor(microseconds(told) + microseconds(duration))) };
    }

private:
    static double microseconds(std::int64_t nanoseconds)
    {
        return static_cast<double>(static_cast<long double>(nanoseconds) / 1000.0L);
    }
    Moment m_added;
};

/// Number of a profiler's step by its name; empty of other names.
std::optional<std::int64_t> stepNumber(std::string_view name)
{
    std::int64_t number = 0;
    if (!name.starts_with(kStep)
        || std::from_chars(name.data() + kStep.size(), name.data() + name.size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

/// Starts of the last profiler step, in the clock's microseconds; empty where there is one step or none. Their numbers
/// go to `steps`.
std::optional<std::int64_t> lastStep(
    const Recording &recording, const RankRecording &rank, const HtaClock &clock, std::vector<std::int64_t> &steps)
{
    std::set<std::uint32_t> names;
    std::set<std::int64_t> numbers;
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const RecordedStream &stream : rank.streams)
        for (std::size_t i = 0; i < stream.spans.size(); ++i) {
            if (stream.spans.work[i] != RecordedWork::Annotation)
                continue;
            const std::string_view name = recording.names[stream.spans.name[i]];
            if (!name.starts_with(kStep) || name.size() == kStep.size() || name[kStep.size()] < '0'
                || name[kStep.size()] > '9')
                continue;
            if (names.insert(stream.spans.name[i]).second)
                if (const auto number = stepNumber(name))
                    numbers.insert(*number);
            last = std::max(last, clock.start(stream.spans.start[i]));
        }
    steps.assign(numbers.begin(), numbers.end());
    return names.size() < 2 ? std::nullopt : std::optional(last);
}

/// Whether the call that launched it, or where none is told itself, came before the last step.
bool isBefore(std::int64_t last, const RecordedSpans &spans, std::size_t i, const HtaClock &clock)
{
    const bool isLinked = i < spans.launch.size() && spans.launch[i] != 0;
    if (i < spans.launchedAt.size() && spans.launchedAt[i] != kNoMoment)
        return clock.start(spans.launchedAt[i]) < last;
    return !isLinked && clock.start(spans.start[i]) < last;
}

/// HTA takes every name that it does not know for computation: there the recording's word counts.
HtaClass htaClassByWork(HtaClass byName, RecordedWork work)
{
    if (byName != HtaClass::Computation)
        return byName;
    switch (work) {
    case RecordedWork::Communication:
        return HtaClass::Communication;
    case RecordedWork::Copy:
        return HtaClass::Memory;
    case RecordedWork::Wait:
    case RecordedWork::Other:
        return HtaClass::Other;
    default:
        return HtaClass::Computation;
    }
}

struct Rows {
    std::vector<Interval> all, computation, communication;
};

SourceKind sourceKindOf(const Recording &recording, const RankRecording &rank)
{
    return rank.source < recording.sources.size() ? recording.sources[rank.source].kind : SourceKind::Unknown;
}

Rows rowsOf(const Recording &recording, const RankRecording &rank, SummaryRule rule, std::vector<std::int64_t> &steps)
{
    const HtaClock clock(recording, rank);
    auto last = lastStep(recording, rank, clock, steps);
    if (rule == SummaryRule::Exact)
        last.reset();
    // Names of a trace are what HTA goes by
    const SourceKind source = sourceKindOf(recording, rank);
    const bool goByNames = source == SourceKind::KinetoTrace || source == SourceKind::NsysExport;
    std::vector<std::int8_t> classes(recording.names.size(), -1);
    Rows rows;
    for (const RecordedStream &stream : rank.streams) {
        if (stream.stream == -1 || !(stream.isGpu || stream.namesGpuStream))
            continue;
        const RecordedSpans &spans = stream.spans;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if (spans.work[i] == RecordedWork::Annotation || (last && !isBefore(*last, spans, i, clock)))
                continue;
            std::int8_t &kind = classes[spans.name[i]];
            if (kind < 0)
                kind = static_cast<std::int8_t>(htaClassOf(recording.names[spans.name[i]]));
            const auto byName = static_cast<HtaClass>(kind);
            // A collective that the trace tells, of a kernel whose name tells none
            const bool isToldApart = !goByNames
                || (byName == HtaClass::Computation && spans.work[i] == RecordedWork::Communication
                    && builtinKernelClasses().workOf(recording.names[spans.name[i]]) == RecordedWork::Compute);
            const HtaClass own = isToldApart ? htaClassByWork(byName, spans.work[i]) : byName;
            Interval interval { spans.start[i], spans.start[i] + spans.duration[i] };
            if (rule == SummaryRule::Hta) {
                const Interval rounded = clock.rounded(spans.start[i], spans.duration[i]);
                interval = { 1000 * rounded.start, 1000 * rounded.end };
            }
            rows.all.push_back(interval);
            if (own == HtaClass::Computation)
                rows.computation.push_back(interval);
            else if (own == HtaClass::Communication)
                rows.communication.push_back(interval);
        }
    }
    return rows;
}

} // namespace

std::vector<Interval> unionOf(std::vector<Interval> intervals)
{
    if (!std::ranges::is_sorted(intervals, {}, &Interval::start))
        std::ranges::stable_sort(intervals, {}, &Interval::start);
    std::vector<Interval> result;
    std::int64_t latest = std::numeric_limits<std::int64_t>::min(); // end so far
    for (const Interval &interval : intervals) {
        if (result.empty() || interval.start > latest)
            result.push_back(interval);
        else
            result.back().end = std::max(result.back().end, interval.end);
        latest = std::max(latest, interval.end);
    }
    return result;
}

std::int64_t lengthOf(std::span<const Interval> disjoint)
{
    std::int64_t sum = 0;
    for (const Interval &interval : disjoint)
        sum += interval.end - interval.start;
    return sum;
}

std::int64_t overlapOf(std::span<const Interval> first, std::span<const Interval> second)
{
    std::int64_t sum = 0;
    for (std::size_t i = 0, k = 0; i < first.size() && k < second.size();) {
        sum += std::max<std::int64_t>(
            0, std::min(first[i].end, second[k].end) - std::max(first[i].start, second[k].start));
        ++(first[i].end < second[k].end ? i : k);
    }
    return sum;
}

std::int64_t overlapOf(const Interval &one, std::span<const Interval> disjoint)
{
    const auto first = std::ranges::upper_bound(disjoint, one.start, {}, &Interval::end);
    return overlapOf(std::span(&one, 1), { first, disjoint.end() });
}

HtaClass htaClassOf(std::string_view name)
{
    // CommunicateKernelGroupingPattern, MemoryKernelGroupingPattern, ComputeKernelGroupingPattern of
    // hta/common/types.py
    static constexpr std::array<std::string_view, 3> kCommunication { "nccl", "hip", "hccl" };
    static constexpr std::array<std::string_view, 5> kMemory { "Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma" };
    static constexpr std::array<std::string_view, 10> kOther { "nccl", "Stream Wait Event", "runFunction", "hip",
        "job_exe", "packet", "pe_exe", "cpum_exe_subgraph", "hccl", "collective_subgraph_execution" };
    static constexpr std::array<std::string_view, 4> kOtherWithin { "Memcpy", "Memset", "dma", "Sync" };
    const std::string_view line = name.substr(0, name.find('\n')); // their dots stop there
    if (beginsWithOneOf(name, kCommunication) || line.find("ncclKernel") != line.npos)
        return HtaClass::Communication;
    if (beginsWithOneOf(name, kMemory))
        return HtaClass::Memory;
    const bool isLaunch = line.starts_with("cuda") && line.find("LaunchKernel", 4) != line.npos;
    return isLaunch || beginsWithOneOf(name, kOther) || holdsOneOf(line, kOtherWithin) ? HtaClass::Other
                                                                                       : HtaClass::Computation;
}

HtaClass htaClassOf(std::string_view name, RecordedWork work)
{
    return htaClassByWork(htaClassOf(name), work);
}

RankSummary summarizeRank(const Recording &recording, const RankRecording &rank, SummaryRule rule)
{
    RankSummary summary;
    summary.rank = rank.rank;
    if (rank.source < recording.sources.size())
        summary.file = recording.sources[rank.source].file;
    // Of nodes that stand one after the other for want of times, nothing can be said.
    const bool hasTimes = sourceKindOf(recording, rank) != SourceKind::ChakraTrace;
    Rows rows = hasTimes ? rowsOf(recording, rank, rule, summary.steps) : Rows {};
    if (rows.all.empty()) {
        summary.reason = !hasTimes ? "its nodes have no times that can be compared"
            : summary.steps.size() > 1 && rule == SummaryRule::Hta
            ? "no kernel of a GPU before the last of its steps, which does not count"
            : "there is no kernel of a GPU in it";
        return summary;
    }
    const std::vector<Interval> all = unionOf(std::move(rows.all));
    const std::vector<Interval> computation = unionOf(std::move(rows.computation));
    const std::vector<Interval> communication = unionOf(std::move(rows.communication));
    const std::int64_t kernelTime = all.back().end - all.front().start, idle = kernelTime - lengthOf(all),
                       compute = lengthOf(computation);
    const auto microseconds = [](std::int64_t nanoseconds) { return double(nanoseconds) / 1000; };
    summary.breakdown = { microseconds(kernelTime), microseconds(compute), microseconds(kernelTime - compute - idle),
        microseconds(idle) };
    if (const std::int64_t length = lengthOf(communication); length > 0) {
        const double share = static_cast<double>(overlapOf(communication, computation)) / static_cast<double>(length);
        summary.communicationOverlap = std::nearbyint(share * 1e4) / 1e4; // 2 decimals of its percentage
    }
    return summary;
}

std::vector<RankSummary> summarize(const Recording &recording, SummaryRule rule)
{
    std::vector<RankSummary> summary;
    for (const RankRecording &rank : recording.ranks)
        summary.push_back(summarizeRank(recording, rank, rule));
    if (summary.size() == 1 && summary.front().rank < 0) {
        summary.front().rank = 0;
        summary.front().isRankGuessed = true;
    }
    return summary;
}

} // namespace trainyard
