#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the map shows of a plan with jobs: GPUs that any of them ran on, which ones, and how busy each was; and the GPUs
// that a job is pinned to where it is dropped. Pure functions.

#include "views/cluster/map_layout.h"
#include "views/cluster/map_scene.h"

namespace trainyard {

/// Marks GPUs that serve jobs and writes what the islands say of them. The evaluation may be of a neighbouring plan:
/// pools are found by their ids.
void addJobs(const Plan &plan, const Evaluation &evaluation, MapScene &scene);
/// "12 jobs · computes 84.1 % of the time", and which jobs; empty where none ran there.
[[nodiscard]] QStringList jobLines(const PoolScene &pool, int gpu);
/// GPUs that a drop there means, in the order of the cluster: one, those of a node, a pool or a datacenter.
[[nodiscard]] std::vector<int> gpusUnder(const Cluster &cluster, const MapHit &hit);

} // namespace trainyard
