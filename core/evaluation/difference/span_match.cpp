// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/span_match_internal.h"

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <tuple>

namespace trainyard::difference {

namespace {

/// What a span does on its lane, apart from when.
struct Work {
    /// kind, micro-batch and chunk
    std::uint64_t what = 0;
    std::uint32_t job = kNoSpan;
    auto operator<=>(const Work &) const = default;
};

/// Lanes of one class, and the pipelines that it stands for.
struct Replicas {
    ReplicaRange range;
    std::span<const Lane> lanes;
    [[nodiscard]] int end() const { return range.first + range.count; }
};

/// By their first pipeline.
std::vector<Replicas> replicasByFirst(const Evaluation &evaluation, const std::vector<Lane> &lanes)
{
    std::vector<Replicas> all;
    for (std::size_t first = 0; first < lanes.size();) {
        std::size_t last = first;
        while (last < lanes.size() && lanes[last].pipelineClass == lanes[first].pipelineClass)
            ++last;
        all.push_back(
            { replicasOf(evaluation, lanes[first].pipelineClass), std::span(lanes).subspan(first, last - first) });
        first = last;
    }
    std::ranges::stable_sort(all, {}, [](const Replicas &one) { return one.range.first; });
    return all;
}

/// Number of each job of a plan, the same for jobs of one name in both; of equal names the first is the first.
class JobNumbers {
public:
    explicit JobNumbers(const Evaluation &evaluation, std::map<std::pair<std::string, int>, std::uint32_t> &numbers)
    {
        if (!evaluation.metrics.jobs)
            return;
        std::map<std::string, int> earlier;
        for (const JobResult &job : evaluation.metrics.jobs->perJob)
            m_numbers.push_back(
                numbers.try_emplace({ job.name, earlier[job.name]++ }, std::uint32_t(numbers.size())).first->second);
    }
    [[nodiscard]] std::uint32_t of(const Timeline &timeline, std::uint32_t span) const
    {
        if (m_numbers.empty())
            return kNoSpan;
        const std::uint32_t job = timeline.classOf(span).job;
        return job < m_numbers.size() ? m_numbers[job] : kNoSpan;
    }

private:
    std::vector<std::uint32_t> m_numbers;
};

/// One of the two timelines.
struct Side {
    const Timeline &timeline;
    JobNumbers jobs;

    [[nodiscard]] Work work(std::uint32_t span) const
    {
        return { std::uint64_t(timeline.kind[span]) << 48
                | std::uint64_t(std::uint32_t(timeline.microBatch[span])) << 16 | timeline.chunk[span],
            jobs.of(timeline, span) };
    }
    [[nodiscard]] Nanoseconds length(std::uint32_t span) const { return timeline.end[span] - timeline.start[span]; }
    [[nodiscard]] bool isIn(std::uint32_t span, const TimeWindow &window) const
    {
        return timeline.start[span] < window.to
            && (timeline.end[span] > window.from || timeline.start[span] >= window.from);
    }
    /// In the order of their work, equal ones in the order of the lane.
    [[nodiscard]] std::vector<std::pair<Work, std::uint32_t>> sorted(std::span<const std::uint32_t> spans) const
    {
        std::vector<std::pair<Work, std::uint32_t>> all;
        all.reserve(spans.size());
        for (const std::uint32_t span : spans)
            all.emplace_back(work(span), span);
        std::ranges::stable_sort(all, {}, &std::pair<Work, std::uint32_t>::first);
        return all;
    }
};

class Matcher {
public:
    Matcher(const Evaluation &before, const Evaluation &after, const TimeWindow &window)
        : m_before { before.timeline, JobNumbers(before, m_jobs) }
        , m_after { after.timeline, JobNumbers(after, m_jobs) }
        , m_window(window)
    {
    }

    /// Pipelines that either class of the two stands for, `before` or `after` null where that timeline has none.
    void compare(const Replicas *before, const Replicas *after, int first, int count)
    {
        m_first = first;
        m_count = count;
        const auto from = before ? before->lanes : std::span<const Lane>();
        const auto to = after ? after->lanes : std::span<const Lane>();
        const auto place = [](const Lane &lane) { return std::tuple(lane.stage, lane.stream, lane.toStage); };
        for (std::size_t i = 0, j = 0; i < from.size() || j < to.size();) {
            const bool hasBefore = i < from.size() && (j == to.size() || place(from[i]) <= place(to[j]));
            const bool hasAfter = j < to.size() && (i == from.size() || place(to[j]) <= place(from[i]));
            compareLanes(hasBefore ? std::span<const std::uint32_t>(from[i].spans) : std::span<const std::uint32_t>(),
                hasAfter ? std::span<const std::uint32_t>(to[j].spans) : std::span<const std::uint32_t>());
            i += hasBefore;
            j += hasAfter;
        }
    }
    [[nodiscard]] std::vector<SpanDifference> take() { return std::move(m_found); }

private:
    void compareLanes(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after)
    {
        if (before.size() == after.size() && std::ranges::equal(before, after, [&](std::uint32_t a, std::uint32_t b) {
                return m_before.work(a) == m_after.work(b);
            })) {
            for (std::size_t i = 0; i < before.size(); ++i)
                add(before[i], after[i]);
            return;
        }
        const std::size_t first = m_found.size();
        const auto from = m_before.sorted(before), to = m_after.sorted(after);
        for (std::size_t i = 0, j = 0; i < from.size() || j < to.size();) {
            const bool hasBefore = i < from.size() && (j == to.size() || from[i].first <= to[j].first);
            const bool hasAfter = j < to.size() && (i == from.size() || to[j].first <= from[i].first);
            add(hasBefore ? from[i].second : kNoSpan, hasAfter ? to[j].second : kNoSpan);
            i += hasBefore;
            j += hasAfter;
        }
        std::ranges::sort(m_found.begin() + std::ptrdiff_t(first), m_found.end(), {},
            [](const SpanDifference &one) { return std::pair(one.before, one.after); }); // kNoSpan is the largest
    }

    void add(std::uint32_t before, std::uint32_t after)
    {
        SpanDifference found { before, after, m_first, m_count };
        if (before == kNoSpan)
            found.longer = m_after.length(after);
        else if (after == kNoSpan)
            found.longer = -m_before.length(before);
        else {
            found.longer = m_after.length(after) - m_before.length(before);
            found.shift = m_after.timeline.start[after] - m_before.timeline.start[before];
            if (found.longer == 0 && found.shift == 0)
                return;
        }
        if ((before != kNoSpan && m_before.isIn(before, m_window))
            || (after != kNoSpan && m_after.isIn(after, m_window)))
            m_found.push_back(found);
    }

    std::map<std::pair<std::string, int>, std::uint32_t> m_jobs;
    Side m_before, m_after;
    TimeWindow m_window;
    int m_first = 0, m_count = 0;
    std::vector<SpanDifference> m_found;
};

} // namespace

std::vector<SpanDifference> matchedSpans(const Evaluation &before, const std::vector<Lane> &lanesBefore,
    const Evaluation &after, const std::vector<Lane> &lanesAfter, const TimeWindow &window)
{
    const std::vector<Replicas> from = replicasByFirst(before, lanesBefore), to = replicasByFirst(after, lanesAfter);
    std::vector<int> cuts; // where either timeline begins another class
    for (const std::vector<Replicas> *side : { &from, &to })
        for (const Replicas &one : *side) {
            cuts.push_back(one.range.first);
            cuts.push_back(one.end());
        }
    std::ranges::sort(cuts);
    cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
    Matcher matcher(before, after, window);
    std::size_t i = 0, j = 0;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        while (i < from.size() && from[i].end() <= cuts[c])
            ++i;
        while (j < to.size() && to[j].end() <= cuts[c])
            ++j;
        const bool hasBefore = i < from.size() && from[i].range.first <= cuts[c];
        const bool hasAfter = j < to.size() && to[j].range.first <= cuts[c];
        if (hasBefore || hasAfter)
            matcher.compare(
                hasBefore ? &from[i] : nullptr, hasAfter ? &to[j] : nullptr, cuts[c], cuts[c + 1] - cuts[c]);
    }
    return matcher.take();
}

} // namespace trainyard::difference
