// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store/snapshot_maker.h"

#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostStepTimes = 65'536; // the latest
constexpr Moment kFirst = std::numeric_limits<Moment>::min(), kLast = std::numeric_limits<Moment>::max();

/// Numbers of the steps whose spans are shown.
struct Chosen {
    std::int64_t first = 0, last = 0;
    bool hasSteps = false, isToTheEnd = false; // to the end: what ran behind the last step too
};

Chosen chosenSteps(const SpanStore &store, const SnapshotAsked &asked)
{
    std::set<std::int64_t> numbers;
    bool hasLater = false;
    const auto most = static_cast<std::size_t>(std::max(asked.steps, 0));
    for (const StoredRank &rank : store.ranks()) {
        auto steps = rank.steps.steps();
        if (asked.until) {
            const auto behind = rank.steps.from(*asked.until + 1);
            hasLater = hasLater || !behind.empty();
            steps = steps.first(steps.size() - behind.size());
        }
        for (const RecordedStep &step : steps.last(std::min(most, steps.size())))
            numbers.insert(step.number);
        while (numbers.size() > most)
            numbers.erase(numbers.begin());
    }
    if (numbers.empty())
        return {};
    return { *numbers.begin(), *numbers.rbegin(), true, !hasLater };
}

struct Window {
    Moment from = kFirst, to = kLast;
};

Window windowOf(const StoredRank &rank, const Chosen &chosen, const Window &ofOthers)
{
    const auto steps = rank.steps.steps();
    if (steps.empty())
        return ofOthers;
    Window window;
    const auto inside = rank.steps.from(chosen.first), behind = rank.steps.from(chosen.last + 1);
    window.from = inside.empty() ? steps.back().end : inside.front().start;
    if (!chosen.isToTheEnd)
        window.to = behind.empty() ? steps.back().end : behind.front().start;
    return window;
}

Window commonWindow(const SpanStore &store, const Chosen &chosen)
{
    Window common { kLast, kFirst };
    for (const StoredRank &rank : store.ranks()) {
        if (rank.steps.steps().empty())
            continue;
        const Window one = windowOf(rank, chosen, {});
        common.from = std::min(common.from, one.from);
        common.to = std::max(common.to, one.to);
    }
    return common.from == kLast ? Window {} : common;
}

class RankWriter {
public:
    RankWriter(const SpanStore &store, Recording &recording)
        : m_store(store)
        , m_recording(recording)
        , m_names(store.nameCount(), kNoIndex)
        , m_groups(store.groupCount(), kNoIndex)
    {
    }

    void write(const StoredRank &rank, const Window &window)
    {
        RankRecording &made = m_recording.ranks.emplace_back(rank.rank);
        made.steps.reserve(rank.steps.steps().size());
        for (const RecordedStep &step : rank.steps.steps())
            made.steps.push_back({ step.number, step.start - m_recording.zero, step.end - m_recording.zero });
        m_streamAt.assign(rank.streams.size(), kNoIndex);
        for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
            if (const auto spans = rank.streams[s].spans.between(window.from, window.to); !spans.empty()) {
                m_streamAt[s] = static_cast<std::uint32_t>(made.streams.size());
                write(spans, made.streams.emplace_back(rank.streams[s].stream).spans);
            }
        const auto collectives = rank.collectives.between(window.from, window.to);
        made.collectives.reserve(collectives.size());
        for (const StoredCollective &one : collectives)
            made.collectives.push_back(written(one, rank, window));
    }

private:
    void write(std::span<const StoredSpan> spans, RecordedSpans &made)
    {
        made.start.resize(spans.size());
        made.duration.resize(spans.size());
        made.name.resize(spans.size());
        made.work.resize(spans.size());
        bool hasLaunches = false;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            made.start[i] = spans[i].start - m_recording.zero;
            made.duration[i] = spans[i].duration;
            made.name[i] = nameOf(spans[i].name);
            made.work[i] = spans[i].work;
            hasLaunches = hasLaunches || spans[i].launched != kNoMoment;
        }
        if (!hasLaunches)
            return;
        for (const StoredSpan &span : spans)
            made.launchedAt.push_back(span.launched == kNoMoment ? kNoMoment : span.launched - m_recording.zero);
    }

    RecordedCollective written(const StoredCollective &one, const StoredRank &rank, const Window &window)
    {
        RecordedCollective made { .operation = nameOf(one.operation),
            .sequence = one.sequence,
            .bytes = one.bytes,
            .start = one.start - m_recording.zero,
            .duration = one.duration };
        if (one.group != kNoIndex)
            made.group = groupOf(one.group);
        if (one.stream >= m_streamAt.size() || m_streamAt[one.stream] == kNoIndex)
            return made;
        made.stream = m_streamAt[one.stream];
        if (one.span == kNoIndex)
            return made;
        const auto spans = rank.streams[one.stream].spans.between(window.from, window.to);
        auto at = std::ranges::lower_bound(spans, one.start, {}, &StoredSpan::start);
        for (; at != spans.end() && at->start == one.start; ++at)
            if (at->duration == one.duration && at->name == one.span) {
                made.span = static_cast<std::uint32_t>(at - spans.begin());
                break;
            }
        return made;
    }

    std::uint32_t nameOf(std::uint32_t name)
    {
        std::uint32_t &number = m_names[name];
        if (number == kNoIndex) {
            number = static_cast<std::uint32_t>(m_recording.names.size());
            m_recording.names.push_back(m_store.name(name));
        }
        return number;
    }
    std::uint32_t groupOf(std::uint32_t group)
    {
        std::uint32_t &number = m_groups[group];
        if (number == kNoIndex) {
            number = static_cast<std::uint32_t>(m_recording.groups.size());
            m_recording.groups.push_back(m_store.group(group));
        }
        return number;
    }

    const SpanStore &m_store;
    Recording &m_recording;
    std::vector<std::uint32_t> m_names, m_groups, m_streamAt;
};

/// By rank, those without one last; of two hosts of one rank first the one that told something later.
std::vector<const StoredRank *> inOrder(const SpanStore &store)
{
    std::vector<const StoredRank *> ranks;
    for (const StoredRank &rank : store.ranks())
        ranks.push_back(&rank);
    std::ranges::stable_sort(ranks, [](const StoredRank *a, const StoredRank *b) {
        const auto key = [](const StoredRank &one) {
            return std::tuple(
                one.rank.rank < 0 ? std::numeric_limits<int>::max() : one.rank.rank, ~one.latest); // the latest first
        };
        return key(*a) < key(*b);
    });
    return ranks;
}

} // namespace

void writeRanks(const SpanStore &store, const SnapshotAsked &asked, Recording &recording)
{
    const bool isWhole = asked.steps == std::numeric_limits<int>::max() && !asked.until;
    const Chosen chosen = isWhole ? Chosen() : chosenSteps(store, asked);
    Window common;
    if (chosen.hasSteps)
        common = commonWindow(store, chosen);
    else if (asked.until || asked.steps <= 0)
        common = { kLast, kLast };
    RankWriter writer(store, recording);
    for (const StoredRank *rank : inOrder(store))
        writer.write(*rank, chosen.hasSteps ? windowOf(*rank, chosen, common) : common);
}

void addStepTimes(const SpanStore &store, Recording &recording)
{
    const auto isTold = [](const SampleSeries &one) {
        return one.name == samples::kStepTime && one.isByStep && one.rank < 0;
    };
    if (std::ranges::any_of(recording.series, isTold))
        return;
    std::vector<std::pair<std::int64_t, std::int64_t>> longest, merged; // number and ns
    std::uint32_t source = kNoIndex;
    for (const StoredRank &rank : store.ranks()) {
        const auto steps = rank.steps.steps();
        if (!steps.empty() && source == kNoIndex)
            source = rank.rank.source;
        merged.clear();
        auto known = longest.begin();
        for (const RecordedStep &step : steps.last(std::min(steps.size(), kMostStepTimes))) {
            for (; known != longest.end() && known->first < step.number; ++known)
                merged.push_back(*known);
            std::int64_t duration = step.end - step.start;
            if (known != longest.end() && known->first == step.number)
                duration = std::max(duration, (known++)->second);
            merged.emplace_back(step.number, duration);
        }
        merged.insert(merged.end(), known, longest.end());
        longest.swap(merged);
    }
    if (longest.empty())
        return;
    SampleSeries &made = recording.series.emplace_back(SampleSeries { samples::kStepTime, "s" });
    made.isByStep = true;
    made.source = source;
    for (const auto &[number, duration] : longest) {
        made.at.push_back(number);
        made.value.push_back(static_cast<double>(duration) * 1e-9);
    }
}

std::pair<std::int64_t, std::int64_t> heldSteps(const SpanStore &store)
{
    std::optional<std::int64_t> first, last;
    for (const StoredRank &rank : store.ranks()) {
        const auto steps = rank.steps.steps();
        if (steps.empty())
            continue;
        for (const StoredStream &stream : rank.streams) {
            const auto spans = stream.spans.items();
            if (spans.empty())
                continue;
            const auto from = std::ranges::upper_bound(steps, spans.front().start, {}, &RecordedStep::end);
            const auto to = std::ranges::upper_bound(steps, spans.back().start, {}, &RecordedStep::start);
            if (from != steps.end())
                first = std::min(first.value_or(from->number), from->number);
            if (to != steps.begin())
                last = std::max(last.value_or((to - 1)->number), (to - 1)->number);
        }
    }
    if (!first || !last || *last < *first)
        return { -1, -1 };
    return { *first, *last };
}

std::vector<RankLife> livesOf(const SpanStore &store)
{
    std::vector<RankLife> lives;
    for (const StoredRank *rank : inOrder(store)) {
        const auto steps = rank->steps.steps();
        lives.push_back({ rank->rank.rank, rank->rank.host, rank->heard, steps.empty() ? -1 : steps.back().number,
            rank->steps.attempts() });
    }
    return lives;
}

} // namespace trainyard::live
