#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The figures that came from outside: GPUs, models, software stacks, regions with their round trips and egress prices.
// Loaded once from the JSON files of resources/catalog (built into the program) and shared read-only by all threads.

#include "core/base/error.h"
#include "core/facts/catalogue/evidence.h"
#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/stack_spec.h"
#include "core/facts/hardware/sustained_rates.h"
#include "core/facts/workload/model_spec.h"

#include <optional>
#include <string_view>

namespace trainyard {

struct Region {
    /// "aws-us-east-1"
    std::string id;
    /// "AWS N. Virginia"
    std::string name;
    /// "aws", "azure", "gcp"
    std::string provider;
    double latitude = 0, longitude = 0;
    /// to another region of the same provider and continent
    double egressUsdPerGb = 0.02;
    /// 0 = unknown
    double usdPerKwh = 0;
    /// 0 = unknown
    double kgCo2PerKwh = 0;
    std::string source;
};

struct RegionLink {
    /// region ids
    std::string from, to;
    double rttMs = 0;
    /// where it differs from the region's
    std::optional<double> usdPerGb;
    std::string source;
};

struct Cloud { // a provider, as TCP connections between its regions see it
    /// "aws"
    std::string id;
    std::string name;
    /// 10^6 bytes that one connection keeps under way
    double tcpWindowMb = 0;
    std::string source;
};

struct Catalogue {
    std::vector<GpuSpec> gpus;
    std::vector<ModelSpec> models;
    std::vector<StackSpec> stacks;
    std::vector<ArchitectureRates> sustained;
    std::vector<Region> regions;
    std::vector<RegionLink> regionLinks;
    std::vector<Cloud> clouds;
    ConfidenceData confidence;

    /// nullptr where unknown
    [[nodiscard]] const GpuSpec *gpu(std::string_view id) const;
    [[nodiscard]] const ModelSpec *model(std::string_view id) const;
    [[nodiscard]] const StackSpec *stack(std::string_view id) const;
    [[nodiscard]] const Region *region(std::string_view id) const;
    [[nodiscard]] const Cloud *cloud(std::string_view id) const;
};

/// The catalogue that is built into the program.
[[nodiscard]] const Catalogue &builtinCatalogue();

/// Reads gpus.json, models.json, stacks.json and regions.json of a folder. Every fault is reported with file and
/// pointer.
[[nodiscard]] ExpectedAll<Catalogue> loadCatalogue(const std::string &folder);

/// Of `names`, the nearest to `name` by edit distance; empty where nothing is near. For "did you mean".
[[nodiscard]] std::string nearestName(std::string_view name, const std::vector<std::string> &names);

} // namespace trainyard
