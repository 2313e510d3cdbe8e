// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/pipeline_depths.h"

#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <set>

namespace trainyard {

std::vector<int> pipelineDepths(const Run &run)
{
    const Recording &recording = *run.recording;
    struct Send {
        Moment at = 0;
        std::uint32_t from = 0, to = 0;
    };
    std::vector<Send> firsts;
    std::set<std::pair<std::uint32_t, std::uint32_t>> known; // pairs, either way
    std::vector<Send> sends;
    for (const MatchedCollective &one : run.collectives) {
        if (one.parts.size() != 2 || !isTransferName(recording.names[one.operation]))
            continue;
        const auto sender = std::ranges::find_if(one.parts, [&](const MatchedCollective::Part &part) {
            return recording.names[recording.ranks[part.rank].collectives[part.collective].operation].starts_with(
                "send");
        });
        if (sender == one.parts.end())
            continue;
        const std::uint32_t to = one.parts[sender == one.parts.begin() ? 1 : 0].rank;
        sends.push_back({ recording.ranks[sender->rank].collectives[sender->collective].start
                + (sender->rank < run.clockShift.size() ? run.clockShift[sender->rank] : 0),
            sender->rank, to });
    }
    std::ranges::stable_sort(sends, {}, &Send::at);
    for (const Send &one : sends)
        if (known.insert(std::minmax(one.from, one.to)).second)
            firsts.push_back(one);
    std::vector<int> depths(recording.ranks.size(), 0);
    std::vector<char> isPlaced(depths.size(), 0);
    for (const Send &one : firsts) {
        isPlaced[one.from] = 1;
        if (!isPlaced[one.to]) // else a stage sends back to the first, for the next part of the model
            depths[one.to] = depths[one.from] + 1;
        isPlaced[one.to] = 1;
    }
    return depths;
}

} // namespace trainyard
