#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan before it is one: the few things that the sheet for a new plan asks for, and the plan that they make. Links
// between all sites come by themselves, with published round trips where there are any. Plain values; any thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

#include <QString>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace trainyard {

struct NewSite {
    /// of the catalogue; empty: a site of one's own, called `name`
    std::string region;
    QString name;
    /// of the catalogue
    std::string gpu;
    int nodes = 4, gpusPerNode = 8;
};

struct NewLinkFigures { // what was typed; empty: as suggested
    std::optional<double> rttMs, capacityGbps;
};

struct NewPlan {
    /// empty: made of the model and the sites
    QString name;
    std::vector<NewSite> sites;
    /// of the catalogue; empty where `ownModel` is set
    std::string model;
    std::optional<ModelSpec> ownModel;
    int sequenceLength = 8192;
    /// sequences per iteration
    int globalBatch = 512;
    /// by sites, the lower first
    std::map<std::pair<int, int>, NewLinkFigures> links;
};

struct NewLink {
    /// sites
    int from = 0, to = 0;
    WanLink link;
    /// of the round trip, in words
    QString source;
};

/// Round trip between places of which nothing is known: one of a continent's width.
inline constexpr double kAssumedRttMs = 40;
/// as in a plan's file
inline constexpr qint64 kMostGpus = 10'000'000;

/// Datacenters of the sites, without links; ids are unique.
[[nodiscard]] Cluster clusterOf(const NewPlan &given, const Catalogue &catalogue);
/// One link between any two sites.
[[nodiscard]] std::vector<NewLink> linksOf(const NewPlan &given, const Catalogue &catalogue);
/// What still has to be said, in words; empty where a plan can be made.
[[nodiscard]] QString missingIn(const NewPlan &given, const Catalogue &catalogue);
/// The plan, with degrees of parallelism that its GPUs can hold; models/new_plan_search finds better ones.
[[nodiscard]] Plan planOf(const NewPlan &given, const Catalogue &catalogue);
[[nodiscard]] qint64 gpusOf(const NewPlan &given);
/// Sites have changed since `before`: round trips that were typed for other places go, so that those of the new ones
/// are suggested.
void forgetMoved(NewPlan &given, const std::vector<NewSite> &before);

/// GPU types as a list to choose from: accelerators of the datacenter first, newest first.
[[nodiscard]] std::vector<const GpuSpec *> newestGpus(const Catalogue &catalogue);
/// GPUs that a node of this type usually has.
[[nodiscard]] int usualGpusPerNode(const GpuSpec &gpu);

} // namespace trainyard
