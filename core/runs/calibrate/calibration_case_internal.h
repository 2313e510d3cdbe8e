#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What every fit of this folder looks at: the run, the plan as it is without factors, which steps are fitted and which
// are held out, and the proposal that it adds to. For the .cpp files of this folder.

#include "core/iteration/cost/kernel_seconds.h"
#include "core/iteration/placement/rank_map.h"
#include "core/iteration/placement/resolve.h"
#include "core/runs/calibrate/calibrate.h"

namespace trainyard {

/// what lies farther off is not the same thing measured
inline constexpr double kMostFactor = 8;

/// Ranks farther from the median of all, or of their likes, than this share of it and so many standard errors are left
/// out.
inline constexpr double kFarOff = 0.05, kFarOffErrors = 5;

/// Ranks far off are left out where they are fewer than one in so many: more are of another kind, not slow ones.
inline constexpr double kMostLeftOut = 4;

/// Of which of the run's files something was learnt.
enum class LearntFrom : std::uint8_t { Probe, Ranks, Collectives, Tools, Steps };

struct CalibrationCase {
    const Run &run;
    /// without factors, laid out
    Workload workload;
    RankMap map;
    /// indices into Run::steps
    std::vector<int> fitted, held;
    const CalibrateOptions &options;
    /// what is learnt from now: its name, and when it was made
    std::string recording;
    /// and whether it tells of the job, not of a machine alone
    bool isOfJob = true;
    /// that the plan has accepted before
    Calibration known;
    /// the plan's job, as the one that ran
    std::optional<FittedOn> fittedOn;
    /// the run has as many ranks as the plan
    bool isOfWorld = true;
    /// [class][stage]; empty where nobody tells
    std::vector<std::vector<RecomputedShares>> recomputed;
    CalibrationProposal proposal;

    /// Of each rank of the recording the number of those that do the same work; -1: the plan has no such rank.
    [[nodiscard]] std::vector<int> likes() const;
    [[nodiscard]] const RecomputedShares &recomputedOf(const PipelineClass &pipelines, int stage) const;
    /// What is proposed from here on is of these files.
    void learnFrom(LearntFrom what);
    /// Takes the factor in place of others of the same, or tells why it is refused: the one door of all that is
    /// proposed, so that what passes can be written into a plan. `isMeasured`: a figure that a tool has averaged
    /// itself, so that one is enough.
    void propose(FittedFactor fitted, bool isMeasured = false);
    void note(std::string sentence);
};

/// Products, attention and memory, by GPU type.
void addKernelFactors(CalibrationCase &of);
void addHostFactor(CalibrationCase &of);
void addOverlapFactor(CalibrationCase &of);
/// NVLink, fabric and WAN, from collectives of steps and from benchmarks of collectives.
void addLinkFactors(CalibrationCase &of);
/// WAN, drives and PCIe from benchmarks.
void addBenchmarkFactors(CalibrationCase &of);

/// "13 µs (± 0.03 µs)"
[[nodiscard]] std::string latencyText(double us, double error);
/// one of 0 is not told
void setError(std::optional<double> &error, double value);
/// Where the run is another job than the plan: by its arguments, or by the batch that its log prints. Empty: nothing
/// tells so.
[[nodiscard]] std::string otherWorkOf(const Evaluation &evaluation, const Recording &recording);
/// Why a factor of NVLink or of a fabric cannot be, where it makes a GPU's link of the plan faster than its nominal
/// rate; empty: it does not.
[[nodiscard]] std::string beyondWire(const CalibrationCase &of, const CalibrationFactor &factor);
/// Of the plan's link between two datacenters, whoever measured it: its ends as the plan names them.
[[nodiscard]] std::string wanId(const Plan &plan, const std::string &a, const std::string &b);
/// "1.131 × as long as modelled (± 0.004"
[[nodiscard]] std::string factorText(double factor, double error);
/// Name of the recording, or of its files of that kind where it has others too.
[[nodiscard]] std::string nameOf(const Recording &recording, std::optional<LearntFrom> what = {});
/// About the mean of what was measured; empty where all lines are alike, so that there is nothing to explain.
[[nodiscard]] std::optional<double> r2Of(const std::vector<double> &line, const std::vector<double> &measured);

} // namespace trainyard
