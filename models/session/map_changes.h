#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What moved between the maps of two plans: GPUs of a datacenter, stages that lie elsewhere, links of another rate,
// latency or use. Datacenters are the same where their ids are, links where their ends are. Pure.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

#include <string>
#include <vector>

namespace trainyard {

struct MapChange {
    enum class Kind { Gpus, Stages, Link };
    Kind kind = Kind::Gpus;
    /// ids of the datacenters that it is about: of GPUs one, of a link its ends, of stages wherever they gain or lose
    /// GPUs
    std::vector<std::string> datacenters;
    /// from 0, those that moved alike
    std::vector<int> stages;
    /// "+8", "−16": GPUs alone
    QString brief;
    /// "H100 SXM: 192 → 184", "Stages 5–8: Virginia → Oregon", "Round trip 36 → 40 ms"; the first plan before the
    /// arrow
    QString text;
    bool operator==(const MapChange &) const = default;
};

struct MapChanges {
    std::vector<MapChange> changes;
    /// why stages are not compared; empty: they are
    QString whyNoStages;
};

/// GPUs by datacenter and type, then stages, then links. A link's use counts from a percent of the iteration on.
[[nodiscard]] MapChanges mapChanges(const Evaluation &before, const Evaluation &after);

} // namespace trainyard
