#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes given to a decoder in pieces, and what all of its batches tell, as one recording: ranks, streams, groups and
// series joined by what they are called, events in order.

#include "core/live/decoder.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace trainyard::live::testing {

class Joined {
public:
    void add(const Batch &batch)
    {
        const Recording &part = batch.part;
        ++batches;
        if (!part.name.empty())
            whole.name = part.name;
        for (const auto &[name, value] : part.arguments)
            whole.arguments.insert_or_assign(name, value);
        for (const RecordedSource &source : part.sources) {
            for (const Dropped &one : source.dropped)
                dropped[one.reason] += one.count;
            notes.insert(notes.end(), source.notes.begin(), source.notes.end());
            bytes += source.bytes;
            taken += source.taken;
        }
        std::vector<std::uint32_t> groups;
        for (const CommunicatorGroup &group : part.groups)
            groups.push_back(placeOf(whole.groups, group));
        for (const RankRecording &rank : part.ranks)
            add(part, rank, groups);
        for (const SampleSeries &series : part.series) {
            auto known = std::ranges::find_if(whole.series, [&](const SampleSeries &one) {
                return std::tie(one.name, one.unit, one.rank, one.where, one.isByStep)
                    == std::tie(series.name, series.unit, series.rank, series.where, series.isByStep);
            });
            if (known == whole.series.end()) {
                whole.series.push_back(series);
                known = whole.series.end() - 1;
                known->at.clear();
                known->value.clear();
            }
            SampleSeries &to = *known;
            for (std::size_t i = 0; i < series.at.size(); ++i) {
                to.at.push_back(series.at[i] + (series.isByStep ? 0 : part.zero));
                to.value.push_back(series.value[i]);
            }
        }
    }

    Recording whole; // moments are Unix times
    std::map<std::string, std::int64_t> dropped;
    std::vector<std::string> notes;
    std::int64_t bytes = 0, taken = 0;
    int batches = 0;

private:
    static std::uint32_t placeOf(std::vector<CommunicatorGroup> &groups, const CommunicatorGroup &group)
    {
        const auto place = static_cast<std::uint32_t>(std::ranges::find(groups, group) - groups.begin());
        if (place == groups.size())
            groups.push_back(group);
        return place;
    }
    std::uint32_t nameOf(const std::string &name)
    {
        const auto known = std::ranges::find(whole.names, name);
        if (known != whole.names.end())
            return static_cast<std::uint32_t>(known - whole.names.begin());
        whole.names.push_back(name);
        return static_cast<std::uint32_t>(whole.names.size() - 1);
    }
    void add(const Recording &part, const RankRecording &rank, const std::vector<std::uint32_t> &groups)
    {
        auto known = std::ranges::find_if(
            whole.ranks, [&](const RankRecording &one) { return one.rank == rank.rank && one.host == rank.host; });
        if (known == whole.ranks.end()) {
            whole.ranks.push_back({ .rank = rank.rank, .host = rank.host });
            known = whole.ranks.end() - 1;
        }
        known->worldSize = rank.worldSize;
        known->gpu = rank.gpu;
        for (RecordedStep step : rank.steps) {
            step.start += part.zero;
            step.end += part.zero;
            known->steps.push_back(step);
        }
        std::vector<std::uint32_t> streams;
        std::vector<std::size_t> before;
        for (const RecordedStream &stream : rank.streams) {
            auto at = std::ranges::find_if(known->streams, [&](const RecordedStream &one) {
                return std::tie(one.label, one.isGpu, one.device, one.stream)
                    == std::tie(stream.label, stream.isGpu, stream.device, stream.stream);
            });
            if (at == known->streams.end()) {
                known->streams.push_back({ stream.isGpu, stream.device, stream.stream, stream.label, false, {} });
                at = known->streams.end() - 1;
            }
            streams.push_back(static_cast<std::uint32_t>(at - known->streams.begin()));
            before.push_back(at->spans.size());
            RecordedSpans &to = at->spans;
            for (std::size_t i = 0; i < stream.spans.size(); ++i) {
                to.start.push_back(stream.spans.start[i] + part.zero);
                to.duration.push_back(stream.spans.duration[i]);
                to.name.push_back(nameOf(part.names[stream.spans.name[i]]));
                to.work.push_back(stream.spans.work[i]);
                const Moment launched = stream.spans.launchedAt.empty() ? kNoMoment : stream.spans.launchedAt[i];
                to.launchedAt.push_back(launched == kNoMoment ? kNoMoment : launched + part.zero);
            }
        }
        for (RecordedCollective one : rank.collectives) {
            one.start += part.zero;
            one.operation = nameOf(part.names[one.operation]);
            one.group = one.group == kNoIndex ? kNoIndex : groups[one.group];
            if (one.stream != kNoIndex) {
                one.span += static_cast<std::uint32_t>(before[one.stream]);
                one.stream = streams[one.stream];
            }
            known->collectives.push_back(one);
        }
    }
};

inline constexpr Moment kReceived = 1'760'000'000'000'000'000;

/// Cut behind the bytes of `cuts`.
inline Expected<Joined> decoded(Decoder &decoder, std::string_view text, const std::vector<std::size_t> &cuts = {})
{
    Joined joined;
    const BatchOut out = [&](Batch &&batch) { joined.add(batch); };
    std::size_t from = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t to = i < cuts.size() ? cuts[i] : text.size();
        const std::string piece(text.substr(from, to - from)); // of its own, so that reading past it is seen
        if (const auto taken = decoder.take(piece, kReceived, out); !taken)
            return std::unexpected(taken.error());
        from = to;
    }
    decoder.end(kReceived, out);
    return joined;
}

} // namespace trainyard::live::testing
