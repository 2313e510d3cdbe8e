#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording taught a plan: factors on the cost model, each with where it came from. They are part of the plan
// (`calibration`), enter through resolve, and carry over to other plans of the same hardware; nothing global changes.

#include "core/base/error.h"
#include "core/facts/catalogue/evidence.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

enum class CalibratedPart : std::uint8_t {
    /// matrix products of a GPU: time × factor
    Products,
    /// its attention kernels: time × factor
    Attention,
    /// its kernels that move memory: time × factor
    Memory,
    /// the host's work of an iteration and a micro-batch: time × factor
    Host,
    /// inside a node of a GPU type: latency and bandwidth
    Nvlink,
    /// inside a datacenter
    Fabric,
    /// between two datacenters: what a node pair reaches, and latency
    Wan,
    /// of a GPU type's nodes: what its drives write and read, B/s
    Drive,
    /// of a GPU type
    Pcie,
    /// share of communication that the stack hides × factor
    Overlap,
};
/// "products"
[[nodiscard]] const char *toString(CalibratedPart part);
[[nodiscard]] std::optional<CalibratedPart> calibratedPart(const std::string &name);

/// The job that a factor was fitted to. Factors carry over to others, but how well the plan then does was seen on this
/// one alone.
struct FittedOn {
    /// stack, precision, experts, reach, sharded weights; its GPU is the factor's own
    EvidenceKey key;
    /// name
    std::string model;
    /// that serve its stages
    int gpus = 0;
    /// "tensor 4, pipeline 2, data 8, …"
    std::string layout;
    bool operator==(const FittedOn &) const = default;
};

struct CalibrationFactor {
    CalibratedPart what = CalibratedPart::Products;
    // Where it holds; empty: everywhere in the plan. A place that its part cannot have is refused.
    /// catalogue id; not of Wan and Overlap
    std::string gpu;
    /// id; not of Wan and Overlap
    std::string datacenter;
    /// two ids of datacenters; of Wan alone
    std::vector<std::string> between;
    /// as measured over as modelled; 0.01 … 100
    std::optional<double> factor;
    /// of Nvlink, Fabric, Wan, instead of a factor; at most ten seconds
    std::optional<double> latencyUs;
    /// of links and drives, instead of a factor; 1e-6 … 1e5
    std::optional<double> gbytesPerS;
    /// its name, and when it was made
    std::string recording;
    int samples = 0;
    /// of the factor or of gbytesPerS; 1.96 of them cover 95 %
    std::optional<double> standardError;
    /// of latencyUs, us, likewise
    std::optional<double> latencyError;
    /// errors of steps that were held out, as fractions
    std::optional<double> r2, errorBefore, errorAfter;
    /// empty: of a benchmark, or written by hand
    std::optional<FittedOn> fittedOn;
    /// false: kept, without effect
    bool isAccepted = true;
    bool operator==(const CalibrationFactor &) const = default;
};
/// by id
using Calibration = std::map<std::string, CalibrationFactor>;

struct Plan;
/// The entries of `calibration` that have effect: accepted, and told what they are about. A plan keeps entries as JSON
/// text, so that those of other versions are not lost; errors name the entry and the key.
[[nodiscard]] ExpectedAll<Calibration> calibrationOf(const Plan &plan);
/// False for an entry of another version, which a plan keeps without effect.
[[nodiscard]] bool tellsWhatItIsAbout(const std::string &json);
/// One entry of `calibration`; `where` begins the location of every error.
[[nodiscard]] Expected<CalibrationFactor> parseCalibrationFactor(const std::string &json, const std::string &where);
/// JSON
[[nodiscard]] std::string formatCalibrationFactor(const CalibrationFactor &factor);

} // namespace trainyard
