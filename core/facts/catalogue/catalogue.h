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
    std::string id; // "aws-us-east-1"
    std::string name; // "AWS N. Virginia"
    std::string provider; // "aws", "azure", "gcp"
    double latitude = 0, longitude = 0;
    double egressUsdPerGb = 0.02; // to another region of the same provider and continent
    double usdPerKwh = 0; // 0 = unknown
    double kgCo2PerKwh = 0; // 0 = unknown
    std::string source;
};

struct RegionLink {
    std::string from, to; // region ids
    double rttMs = 0;
    std::optional<double> usdPerGb; // where it differs from the region's
    std::string source;
};

struct Cloud { // a provider, as TCP connections between its regions see it
    std::string id; // "aws"
    std::string name;
    double tcpWindowMb = 0; // 10^6 bytes that one connection keeps under way
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

    [[nodiscard]] const GpuSpec *gpu(std::string_view id) const; // nullptr where unknown
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
