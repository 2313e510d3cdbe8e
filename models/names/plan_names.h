#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The names that a plan, a session and the product itself bring to the index: datacenters, links, pools, nodes, GPUs,
// stages, ranks, jobs, keys with today's value; variants and decisions; models, samples and recent files; alarms. What
// the index holds of a cluster is by id, and holds for the plan that it was made of. Pure but for samples, which are
// looked for on disk.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/edits.h"
#include "core/facts/session/session.h"
#include "core/live/alarms/watchman.h"
#include "models/names/name_index.h"

#include <QStringList>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// Datacenters (id: its id), pools (id: datacenter's, number: place in it), links (number: place in the plan), nodes
/// (id "datacenter/pool place"), GPUs (number in the order of the cluster), jobs.
void addClusterNames(NameIndex &index, const PlanPtr &plan);
/// Stages and ranks as they were placed; none of a plan with jobs, or where nothing could be placed.
void addPlacedNames(NameIndex &index, const EvaluationPtr &evaluation);
/// Keys of `paths` (core/facts/plan/key_list.h) by title, path and value.
void addKeyNames(NameIndex &index, const Plan &plan, std::span<const std::string> paths);
void addModelNames(NameIndex &index, const Catalogue &catalogue);
void addFileNames(NameIndex &index, const QStringList &recent);
/// Variants and decisions, where there is more than one plan. `current`: id of the variant that is shown.
void addSessionNames(NameIndex &index, const Session &session, const std::string &current);
void addAlarmNames(NameIndex &index, std::span<const watch::Alarm> alarms);

/// A node or a whole pool of the index, as GPUs of the plan that the index was made of.
[[nodiscard]] std::optional<GpuSelection> gpusOfNode(const Plan &plan, const NamedThing &node);

/// Where a rank of the plan runs.
struct GpuOfRank {
    GpuSelection gpu;
    int stage = 0, pipelineClass = 0;
};
/// Empty where there is no such rank.
[[nodiscard]] std::optional<GpuOfRank> gpuOfRank(const Evaluation &evaluation, int rank);

} // namespace trainyard
