// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/operator_calls.h"

#include "core/runs/profile/gpu_work.h"

#include <algorithm>

namespace trainyard {

namespace {

/// The innermost operator of a stream that is open at a moment; moments are asked for in order.
class OpenOperators {
public:
    explicit OpenOperators(const RecordedSpans &spans)
        : m_spans(spans)
    {
    }

    [[nodiscard]] std::uint32_t at(Moment moment)
    {
        for (; m_next < m_spans.size() && m_spans.start[m_next] <= moment; ++m_next) {
            if (m_spans.work[m_next] != RecordedWork::HostOperator)
                continue;
            closeBefore(m_spans.start[m_next]);
            m_open.push_back(m_next);
        }
        closeBefore(moment);
        return m_open.empty() ? kNoIndex : m_open.back();
    }

private:
    void closeBefore(Moment moment)
    {
        while (!m_open.empty() && m_spans.start[m_open.back()] + m_spans.duration[m_open.back()] < moment)
            m_open.pop_back();
    }

    const RecordedSpans &m_spans;
    std::uint32_t m_next = 0;
    std::vector<std::uint32_t> m_open;
};

struct Link {
    std::uint32_t launch, stream, span;
};

bool tellsTensors(const RecordedStream &stream, std::uint32_t span)
{
    return span < stream.spans.shape.size() && stream.spans.shape[span] != kNoIndex;
}

/// Adds the operator around each call of a thread that launched something. Operators that name the GPU's stream
/// (Triton's) have streams of their own, beside the thread that called them.
void addLinks(const RankRecording &rank, std::uint32_t index, std::vector<Link> &links)
{
    const RecordedStream &thread = rank.streams[index];
    if (thread.spans.launch.empty())
        return;
    OpenOperators own(thread.spans);
    std::vector<std::pair<std::uint32_t, OpenOperators>> beside;
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s)
        if (rank.streams[s].namesGpuStream && rank.streams[s].device == thread.device)
            beside.emplace_back(s, OpenOperators(rank.streams[s].spans));
    for (std::size_t i = 0; i < thread.spans.size(); ++i) {
        if (thread.spans.work[i] != RecordedWork::HostCall || thread.spans.launch[i] == 0)
            continue;
        const Moment moment = thread.spans.start[i];
        Link link { thread.spans.launch[i], index, own.at(moment) };
        for (auto &[stream, operators] : beside) {
            const std::uint32_t other = operators.at(moment);
            const auto startOf = [&](std::uint32_t of, std::uint32_t span) {
                return rank.streams[of].spans.start[span];
            };
            if (other != kNoIndex
                && (link.span == kNoIndex || startOf(stream, other) >= startOf(link.stream, link.span)))
                link = { link.launch, stream, other };
        }
        if (link.span != kNoIndex && tellsTensors(rank.streams[link.stream], link.span))
            links.push_back(link);
    }
}

class CallSums {
public:
    explicit CallSums(const RankRecording &rank)
        : m_numberOf(rank.streams.size())
        , m_rank(rank)
    {
    }

    void add(const Link &link, const RecordedSpans &kernels, std::uint32_t kernel)
    {
        std::vector<std::uint32_t> &numbers = m_numberOf[link.stream];
        numbers.resize(m_rank.streams[link.stream].spans.size(), 0);
        std::uint32_t &number = numbers[link.span];
        if (number == 0) {
            calls.push_back({ .stream = link.stream, .span = link.span });
            number = static_cast<std::uint32_t>(calls.size());
        }
        OperatorCall &call = calls[number - 1];
        ++call.kernels;
        call.total += kernels.duration[kernel];
        if (call.kernel == kNoIndex || kernels.duration[kernel] > call.longest) {
            call.kernel = kernels.name[kernel];
            call.longest = kernels.duration[kernel];
        }
    }

    std::vector<OperatorCall> calls;

private:
    /// by stream and span, from 1; 0: none yet
    std::vector<std::vector<std::uint32_t>> m_numberOf;
    const RankRecording &m_rank;
};

} // namespace

OperatorCalls operatorCalls(const RankRecording &rank)
{
    OperatorCalls made;
    std::vector<Link> links;
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
        const RecordedStream &stream = rank.streams[s];
        if (stream.isGpu)
            continue;
        made.hasTensors = made.hasTensors || !stream.spans.shape.empty();
        if (stream.namesGpuStream) // kept in any case
            continue;
        const auto isOfHost = [](RecordedWork work) {
            return work == RecordedWork::HostOperator || work == RecordedWork::HostCall;
        };
        made.hasHost = made.hasHost || std::ranges::any_of(stream.spans.work, isOfHost);
        addLinks(rank, s, links);
    }
    std::ranges::stable_sort(links, {}, &Link::launch);
    CallSums sums(rank);
    for (const std::uint32_t s : gpuStreamsOf(rank)) {
        const RecordedSpans &spans = rank.streams[s].spans;
        for (std::uint32_t i = 0; i < spans.size(); ++i) {
            if (!isGpuWork(spans.work[i]) || spans.work[i] == RecordedWork::Communication)
                continue;
            made.total += double(spans.duration[i]);
            const std::uint32_t launch = i < spans.launch.size() ? spans.launch[i] : 0;
            const auto link = std::ranges::lower_bound(links, launch, {}, &Link::launch);
            if (launch != 0 && link != links.end() && link->launch == launch)
                sums.add(*link, spans, i);
            else
                made.untold += double(spans.duration[i]);
        }
    }
    made.calls = std::move(sums.calls);
    return made;
}

} // namespace trainyard
