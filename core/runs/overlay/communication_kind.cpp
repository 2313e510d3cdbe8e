// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/communication_kind.h"

#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <optional>

namespace trainyard {

namespace {

/// Whatever a group is, where the plan divides a model in one way alone: no other ranks have anything to say.
std::optional<CommunicationKind> onlyKind(const Parallelism &p, const RankMap &map)
{
    if (map.stages() > 1 || p.expert > 1)
        return std::nullopt;
    const bool hasTensor = p.tensor > 1, hasContext = p.context > 1, hasData = map.replicas() > 1;
    if (hasTensor + hasContext + hasData != 1)
        return std::nullopt;
    return hasTensor ? CommunicationKind::Tensor
        : hasContext ? CommunicationKind::Context
                     : CommunicationKind::Gradients;
}

} // namespace

CommunicationKind communicationKind(
    const ExposedPart &part, const Recording &recording, const RankMap &map, const Plan &plan)
{
    using enum CommunicationKind;
    if (part.isCopy)
        return Copies;
    const std::string_view operation =
        part.operation < recording.names.size() ? std::string_view(recording.names[part.operation]) : "";
    const bool isMoe = plan.parallelism.expert > 1;
    if (operation.starts_with("all_to_all") && isMoe)
        return Expert;
    const std::vector<int> none;
    const std::vector<int> &ranks = part.group < recording.groups.size() ? recording.groups[part.group].ranks : none;
    const bool isKnown =
        ranks.size() > 1 && std::ranges::all_of(ranks, [&](int rank) { return rank >= 0 && rank < map.worldSize(); });
    if (!isKnown && isTransferName(operation))
        return map.stages() > 1 ? Pipeline : Other;
    if (!isKnown)
        return onlyKind(plan.parallelism, map).value_or(Other);
    const RankPlace first = map.placeOf(ranks.front());
    bool isOfStage = true, isOfReplica = true, isOfTensor = true;
    for (const int rank : ranks) {
        const RankPlace place = map.placeOf(rank);
        isOfStage &= place.stage == first.stage;
        isOfReplica &= place.replica == first.replica;
        isOfTensor &= place.tensor == first.tensor;
    }
    if (isTransferName(operation))
        return isOfStage ? Other : Pipeline;
    if (!isOfStage) // embeddings that the first and the last stage share
        return static_cast<int>(ranks.size()) < map.worldSize() ? Gradients : Other;
    if (!isOfReplica)
        return Gradients;
    return isOfTensor && ranks.size() > 1 ? Context : Tensor;
}

} // namespace trainyard
