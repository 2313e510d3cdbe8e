#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's published runs as its own closed form sees them (core/systems/unequal_gpus/sailor.h), with the layer times,
// memory and link polynomials of its release: resources/validation/sailor_inputs.json, built in. Our cost model on the
// same runs is the source `sailor_validation`. Values, read once and shared read-only by all threads.

#include "core/evaluation/validation/run.h"
#include "core/systems/unequal_gpus/sailor.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace trainyard {

/// What a point takes for granted, by the names of the release.
struct SailorInputs {
    struct LayerMemory { // of one GPU
        /// numbers, the latter two for one sample
        double parameters = 0, sent = 0, kept = 0;
    };
    using Model = std::string;
    using Gpu = std::string;
    std::map<std::tuple<Model, Gpu, int /*tensor*/, int /*micro-batch*/>, std::vector<sailor::LayerTime>> times;
    std::map<std::tuple<Model, int /*tensor*/>, std::vector<LayerMemory>> layers;
    std::map<std::tuple<Gpu, Gpu, int /*GPUs of a machine*/>, LinkCurve> links;
};

struct SailorPoint {
    struct Replicas { // equal ones
        int count = 1;
        std::string gpu;
        int gpusPerNode = 1, tensor = 1;
    };
    struct Stage {
        /// embedding and head count as one each
        int layers = 0;
        std::vector<Replicas> replicas;
    };
    /// as in `sailor_validation` and usable.json
    std::string id;
    /// "OPT-350"
    std::string model;
    int microBatch = 1, globalBatch = 1;
    std::vector<Stage> stages;
    /// measured
    double iterationSeconds = 0, peakBytes = 0;
    /// of the cluster that mixes types
    [[nodiscard]] bool hasUnequalGpus() const;
    /// why the measurement counts for nothing; empty where it does count
    std::string unsound;
};

struct SailorRelease {
    SailorInputs inputs;
    std::vector<SailorPoint> points;
};

/// What is built in. A broken file is a broken build: the program ends.
[[nodiscard]] const SailorRelease &builtinSailorRelease();

/// The closed form's view of a point. Errors: inputs that the release does not have.
[[nodiscard]] Expected<sailor::Problem> sailorProblem(const SailorPoint &point, const SailorInputs &inputs);

/// A point by both, as errors: predicted / measured - 1.
struct SailorComparison {
    const SailorPoint *point = nullptr;
    sailor::Prediction form;
    double formTime = 0, formMemory = 0;
    // Of the row of `sailor_validation`; empty where none was run.
    std::optional<double> ourTime = {}, ourMemory = {};
};

/// Our cost model on the same runs, by its name among the rows.
inline constexpr std::string_view kSailorSource = "sailor_validation";

/// All points of the release in its order, beside what our cost model says of the same rows in `results`.
[[nodiscard]] std::vector<SailorComparison> compareWithSailor(const std::vector<ValidationResult> &results);

/// Means of the absolute errors of points whose measurement counts, on one kind of GPU or on unequal ones.
struct SailorErrors {
    /// points, and those of them that our cost model has run
    int n = 0, ours = 0;
    double formTime = 0, formMemory = 0, ourTime = 0, ourMemory = 0;
};
[[nodiscard]] SailorErrors sailorErrors(const std::vector<SailorComparison> &points, bool ofUnequalGpus);

/// Both side by side, point by point, for docs/validation.md.
[[nodiscard]] std::string sailorMarkdown(const std::vector<SailorComparison> &points);

} // namespace trainyard
