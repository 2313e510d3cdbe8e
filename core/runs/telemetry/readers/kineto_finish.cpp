// SPDX-License-Identifier: GPL-3.0-or-later
// From the events of a trace to the recording of its rank: moments, order, links and what they tell.
#include "core/base/units.h"
#include "core/runs/telemetry/readers/kineto_collect_internal.h"
#include "core/runs/telemetry/readers/span_order.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace trainyard::readers {

namespace {

constexpr Moment kYear2000 = 946'684'800'000'000'000;
constexpr Moment kMicrosecond = 1'000;
constexpr int kMostNested = 64; // calls of one thread that may enclose a launch

} // namespace

/// Moves all times to moments since the recording's zero.
void TraceCollector::moveTimes()
{
    Moment first = std::numeric_limits<Moment>::max(), firstUnix = first;
    std::size_t spans = 0, unixTimes = 0;
    for (const Stream &stream : m_streams)
        for (const Moment start : stream.made.spans.start) {
            first = std::min(first, start);
            ++spans;
            if (start < kYear2000)
                continue;
            firstUnix = std::min(firstUnix, start);
            ++unixTimes;
        }
    if (spans == 0)
        return;
    RankRecording &rank = m_recording.ranks.front();
    Moment added = 0;
    if (unixTimes * 2 > spans) { // whatever base there is
        m_recording.zero = firstUnix / kNanosecondsPerSecond * kNanosecondsPerSecond;
        added = -m_recording.zero;
    } else if (m_header.hasBase) {
        m_recording.zero = m_header.base / kMicrosecond * kMicrosecond;
        added = m_header.base - m_recording.zero;
        rank.timeBase = m_header.base;
    } else {
        added = -first;
        rank.timeBase = -first;
    }
    const auto move = [added](Moment time) { return time + added; };
    for (Stream &stream : m_streams)
        std::ranges::transform(stream.made.spans.start, stream.made.spans.start.begin(), move);
    for (Launch &launch : m_launches)
        launch.start = move(launch.start);
    for (CommunicationCall &call : m_calls) {
        call.start = move(call.start);
        call.end = move(call.end);
    }
}

/// By start, of equal starts the longer first; spans that are there twice once.
void TraceCollector::sortStream(std::uint32_t index)
{
    Stream &stream = m_streams[index];
    RecordedSpans &spans = stream.made.spans;
    std::vector<std::uint32_t> order = orderByStart(spans);
    if (stream.place == Place::Gpu) {
        const auto isSame = [&](std::uint32_t a, std::uint32_t b) {
            return spans.start[a] == spans.start[b] && spans.duration[a] == spans.duration[b]
                && spans.name[a] == spans.name[b] && stream.correlation[a] == stream.correlation[b]
                && stream.correlation[a] > 0;
        };
        const auto twice = std::ranges::unique(order, isSame);
        m_lost[static_cast<std::size_t>(Lost::Twice)] += static_cast<std::int64_t>(twice.size());
        order.erase(twice.begin(), twice.end());
    }
    arrange(spans.start, order);
    arrange(spans.duration, order);
    arrange(spans.name, order);
    arrange(spans.work, order);
    arrange(spans.shape, order);
    arrange(stream.correlation, order);
    if (!stream.collective.empty())
        stream.collective.resize(std::max(stream.collective.size(), spans.size()), kNoIndex);
    arrange(stream.collective, order);
    for (std::size_t i = 0; i < stream.collective.size(); ++i)
        if (stream.collective[i] != kNoIndex) {
            m_collectives[stream.collective[i]].span = static_cast<std::uint32_t>(i);
            m_collectives[stream.collective[i]].isKept = true;
        }
}

const TraceCollector::Launch *TraceCollector::launchOf(std::int64_t correlation) const
{
    const auto at = std::ranges::lower_bound(m_launches, correlation, {}, &Launch::correlation);
    return correlation >= 0 && at != m_launches.end() && at->correlation == correlation ? &*at : nullptr;
}

/// What the operator around the launch of a kernel tells, of several the most telling, then the innermost.
const CollectiveFacts *TraceCollector::callOf(std::int64_t correlation) const
{
    const Launch *launch = launchOf(correlation);
    if (!launch)
        return nullptr;
    const auto key = [](const CommunicationCall &call) { return std::pair(call.thread, call.start); };
    auto at = std::ranges::upper_bound(m_calls, std::pair(launch->thread, launch->start), {}, key);
    const CollectiveFacts *best = nullptr;
    for (int i = 0; i < kMostNested && at != m_calls.begin(); ++i) {
        --at;
        if (at->thread != launch->thread)
            break;
        if (at->end >= launch->start && (!best || at->facts.trust > best->trust))
            best = &at->facts;
    }
    return best;
}

/// Ranks of groups whose list is cut in the events, and the groups that no event names. A few bytes of a file may tell
/// a million ranks, so that all of them together are bounded by its size.
void TraceCollector::finishGroups()
{
    constexpr std::int64_t kMostListedRanks = 1 << 20, kFree = 1 << 18;
    RecordedSource &source = m_recording.sources.front();
    std::int64_t left = kFree + source.bytes, leftOut = 0;
    const auto hasRoom = [&](std::int64_t ranks) {
        const bool fits = ranks <= left;
        left -= fits ? ranks : 0;
        leftOut += fits ? 0 : 1;
        return fits;
    };
    std::unordered_map<std::string_view, const CommunicatorGroup *> told;
    for (const CommunicatorGroup &group : m_header.groups)
        told.try_emplace(group.name, &group);
    for (std::size_t i = 0; i < m_recording.groups.size(); ++i) {
        CommunicatorGroup &group = m_recording.groups[i];
        const GroupFacts &facts = m_groupFacts[i];
        if (!group.ranks.empty())
            continue;
        if (const auto known = told.find(group.name); known != told.end()) {
            if (hasRoom(std::ssize(known->second->ranks)))
                group.ranks = known->second->ranks;
        } else if (facts.first >= 0 && facts.stride > 0 && facts.size > 0 && facts.size <= kMostListedRanks
            && facts.first <= kMostListedRanks && facts.stride <= kMostListedRanks / facts.size
            && hasRoom(facts.size)) {
            for (std::int64_t k = 0; k < facts.size; ++k)
                group.ranks.push_back(static_cast<int>(facts.first + k * facts.stride));
        }
    }
    std::unordered_set<std::string> known;
    for (const CommunicatorGroup &group : m_recording.groups)
        known.insert(group.name);
    for (const CommunicatorGroup &group : m_header.groups)
        if (known.insert(group.name).second)
            m_recording.groups.push_back(group);
    if (leftOut > 0)
        source.dropped.push_back({ "lists of ranks of groups, more than a file of its size can tell", leftOut });
}

void TraceCollector::finishCollectives()
{
    RankRecording &rank = m_recording.ranks.front();
    std::ranges::stable_sort(m_calls,
        [](const auto &a, const auto &b) { return std::pair(a.thread, a.start) < std::pair(b.thread, b.start); });
    for (const Pending &pending : m_collectives) {
        if (!pending.isKept)
            continue;
        const RecordedSpans &spans = m_streams[pending.stream].made.spans;
        CollectiveFacts facts = pending.facts;
        const NcclKernelName name = readNcclKernelName(m_recording.names[spans.name[pending.span]]);
        if (facts.elements == 0)
            if (const CollectiveFacts *call = callOf(pending.correlation)) {
                facts.operation =
                    call->operation.empty() || !facts.operation.empty() ? facts.operation : call->operation;
                facts.elements = call->elements;
                facts.elementBytes = call->elementBytes;
                facts.group = facts.group == kNoIndex ? call->group : facts.group;
                facts.sequence = facts.sequence < 0 ? call->sequence : facts.sequence;
            }
        if (facts.operation.empty())
            facts.operation = name.operation.empty() ? "unknown" : name.operation;
        RecordedCollective &made = rank.collectives.emplace_back();
        made.group = facts.group;
        made.operation = m_names(facts.operation);
        made.sequence = facts.sequence;
        made.bytes = facts.elements * (facts.elementBytes > 0 ? facts.elementBytes : name.elementBytes);
        made.start = spans.start[pending.span];
        made.duration = spans.duration[pending.span];
        made.stream = pending.stream;
        made.span = pending.span;
    }
    std::ranges::stable_sort(rank.collectives, {}, &RecordedCollective::start);
}

/// Of the host's annotations; of the GPU's where there are none.
void TraceCollector::finishSteps()
{
    RankRecording &rank = m_recording.ranks.front();
    for (const Place place : { Place::Host, Place::GpuAnnotations }) {
        for (const Stream &stream : m_streams)
            for (std::size_t i = 0; stream.place == place && i < stream.made.spans.size(); ++i) {
                const RecordedSpans &spans = stream.made.spans;
                const std::string_view name = m_recording.names[spans.name[i]];
                RecordedStep step { 0, spans.start[i], spans.start[i] + spans.duration[i] };
                if (spans.work[i] == RecordedWork::Annotation && name.starts_with(kProfilerStep)
                    && std::from_chars(name.data() + kProfilerStep.size(), name.data() + name.size(), step.number).ec
                        == std::errc())
                    rank.steps.push_back(step);
            }
        if (!rank.steps.empty())
            break;
    }
    std::ranges::sort(rank.steps, {}, [](const RecordedStep &step) { return std::pair(step.number, step.start); });
    const auto again = std::ranges::unique(rank.steps, {}, &RecordedStep::number);
    rank.steps.erase(again.begin(), again.end());
}

void TraceCollector::tellLost()
{
    static constexpr std::array kReasons { "operators and calls of the host, whose links are kept", "Python functions",
        "the profiler's own events", "arrows between events", "counters", "instants",
        "begins and ends of spans that stand apart", "events without a time or a duration that can be",
        "events of other kinds", "events that are there twice" };
    static_assert(kReasons.size() == std::tuple_size_v<decltype(m_lost)>);
    RecordedSource &source = m_recording.sources.front();
    for (std::size_t i = 0; i < kReasons.size(); ++i)
        if (m_lost[i] > 0)
            source.dropped.push_back({ kReasons[i], m_lost[i] });
}

void TraceCollector::finish()
{
    RecordedSource &source = m_recording.sources.front();
    RankRecording &rank = m_recording.ranks.emplace_back();
    rank.source = 0;
    rank.rank = m_header.rank >= 0 ? m_header.rank : rankOfFileName(source.file);
    rank.worldSize = m_header.worldSize;
    rank.host = m_header.host;
    moveTimes();
    std::ranges::sort(m_launches, {}, [](const Launch &launch) { return std::pair(launch.correlation, launch.start); });
    std::vector<std::uint32_t> order(m_streams.size()); // streams of the GPU first, by device and number
    for (std::uint32_t i = 0; i < m_streams.size(); ++i)
        sortStream(i);
    for (std::uint32_t i = 0; i < m_streams.size(); ++i) {
        Stream &stream = m_streams[i];
        RecordedSpans &spans = stream.made.spans;
        if (std::ranges::any_of(stream.correlation, [](std::int64_t correlation) { return correlation >= 0; }))
            for (const std::int64_t correlation : stream.correlation) {
                const Launch *launch = launchOf(correlation);
                spans.launch.push_back(correlation > 0 && correlation < std::int64_t(kNoIndex)
                        ? static_cast<std::uint32_t>(correlation)
                        : 0);
                if (stream.made.isGpu)
                    spans.launchedAt.push_back(launch ? launch->start : kNoMoment);
            }
        if (stream.place == Place::Host)
            stream.made.label = stream.thread == kNoIndex ? "" : m_threads[stream.thread].label;
        else if (stream.place != Place::Gpu)
            stream.made.label = (stream.place == Place::HostOfGpu ? "operators of stream " : "annotations of stream ")
                + std::to_string(stream.made.stream);
        if (stream.place == Place::Gpu && rank.gpu.empty())
            rank.gpu = m_header.gpuOf(stream.made.device);
    }
    if (m_operators.leftOut() > 0)
        source.dropped.push_back({ "sizes of tensors, of more operators than are told apart", m_operators.leftOut() });
    finishGroups();
    finishCollectives();
    finishSteps();
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
        const Stream &stream = m_streams[i];
        return std::tuple(stream.place, stream.made.device, stream.made.stream);
    });
    std::vector<std::uint32_t> placeOf(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        placeOf[order[i]] = i;
        source.taken += static_cast<std::int64_t>(m_streams[order[i]].made.spans.size());
        rank.streams.push_back(std::move(m_streams[order[i]].made));
    }
    for (RecordedCollective &collective : rank.collectives)
        collective.stream = placeOf[collective.stream];
    tellLost();
    if (rank.rank < 0)
        source.notes.push_back("Neither the trace nor the name of its file tells its rank");
    if (m_recording.zero == 0 && !rank.streams.empty())
        source.notes.push_back("Its times count from a moment that it does not tell");
}

} // namespace trainyard::readers
