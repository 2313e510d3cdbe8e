#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where experts live, as the details panel and the map tell it: which experts are on the selected GPUs, who sends to
// them, and the lines from senders to the GPUs that hold one expert. Pure functions.

#include "core/evaluation/evaluate/expert_places.h"
#include "views/cluster/map_traffic.h"

#include <QString>

#include <vector>

namespace trainyard {

struct ExpertHere {
    int expert = 0;
    /// of its rank / mean
    double load = 1;
    /// of those asked about that hold it or a shard of it
    int gpus = 0;
};

struct SenderHere {
    /// "Node 3, Oregon"
    QString name;
    MapItem item;
    /// in one layer, one micro-batch and one forward
    double bytes = 0;
    /// of all that these GPUs get
    double share = 0;
    /// within what was asked about
    bool isHere = false;
};

struct ExpertsHere {
    /// -1: none
    int stage = -1;
    /// in their order
    std::vector<ExpertHere> experts;
    /// most first; nodes
    std::vector<SenderHere> senders;
    /// that come here, own included
    double bytes = 0;
};

/// Of consecutive GPUs of one pool that serve the stage of `places`.
[[nodiscard]] ExpertsHere expertsHere(
    const Evaluation &evaluation, const ExpertPlaces &places, StageLocation at, int firstGpu, int gpus);

/// All GPUs that hold the expert, and the nodes that send to each of them; the widest few hundred lines.
[[nodiscard]] MapTraffic expertTraffic(const Evaluation &evaluation, const ExpertPlaces &places, int expert);

/// "Expert 12": experts count from 0, as routers number them.
[[nodiscard]] QString expertName(int expert);

} // namespace trainyard
