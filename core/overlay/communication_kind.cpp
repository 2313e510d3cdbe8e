// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/communication_kind.h"

#include "core/overlay/span_index.h"

#include <algorithm>

namespace trainyard {

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
    if (!isKnown)
        return isTransferName(operation) && map.stages() > 1 ? Pipeline : Other;
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
