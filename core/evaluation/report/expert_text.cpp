// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/expert_text.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/facts/plan/plan_io.h"

namespace trainyard {

namespace {

std::string pieces(const ExpertMetrics &experts)
{
    const int forward = experts.forwardChunks, backward = experts.backwardChunks;
    if (forward == 1 && backward == 1)
        return {};
    return forward == backward
        ? " in " + counted(forward, "piece")
        : " in " + counted(forward, "piece") + " forward and " + std::to_string(backward) + " backward";
}

/// What a dispatch counts as one copy of a token.
const char *copies(const ExpertMetrics &experts)
{
    switch (experts.chosen) {
    case MoeDispatch::RankDedup:
        return "a copy for each rank visited";
    case MoeDispatch::Dedup:
        return experts.nicBytes + experts.wanBytes > 0 ? "a copy for each node visited"
                                                       : "a copy for each rank visited";
    case MoeDispatch::AllGather:
        return "a copy for every rank";
    default:
        return "a copy for each visit";
    }
}

} // namespace

std::vector<std::string> expertSentences(const Evaluation &evaluation)
{
    if (!evaluation.metrics.experts)
        return {};
    const ExpertMetrics &e = *evaluation.metrics.experts;
    const bool isChosen = evaluation.plan->moe.dispatch == MoeDispatch::TrafficAware;
    std::vector<std::string> text { "One expert layer takes " + secondsText(e.layerMs * 1e-3)
        + " forward, of which nothing computes for " + secondsText(e.exposedMs * 1e-3) };
    if (e.wireBytes > 0) {
        std::string ways;
        if (e.nicBytes > 0)
            ways += ", " + bytesText(e.nicBytes) + " of it between nodes";
        if (e.wanBytes > 0)
            ways += ", " + bytesText(e.wanBytes) + " between datacenters";
        text.push_back("Tokens travel " + std::string(isChosen ? "as traffic-aware chose: " : "") + toString(e.chosen)
            + pieces(e) + ", " + bytesText(e.wireBytes) + " from each GPU an iteration" + ways);
        text.push_back("A dispatch moves " + plainText(e.logicalGBps) + " GB/s logical (" + copies(e) + "), "
            + plainText(e.wireGBps) + " GB/s on the wire");
    }
    if (e.skew > 1)
        text.push_back("Rank " + std::to_string(e.slowestRank) + " of a group has " + plainText(e.skew)
            + " times the mean load, and the others wait for it");
    if (e.droppedShare > 0)
        text.push_back(percentText(e.droppedShare) + " of the visits to experts find no room");
    return text;
}

} // namespace trainyard
