#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Front door of the room: what a recording teaches about the hardware and software of a plan. Every fit tells its
// samples, standard error, R², residual, and how far predicted steps lay from measured ones before and after, on steps
// and collectives that the fit has not seen. Nothing is changed here: the plan takes what its user accepts.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/plan/calibration.h"
#include "core/runs/overlay/run_overlay.h"

#include <stop_token>

namespace trainyard {

class Catalogue;

struct FittedFactor {
    /// "products-h100-sxm-80gb", "fabric-virginia"
    std::string id;
    CalibrationFactor factor;
    /// median of |measured / fitted - 1|
    double residual = 0;
    /// "Matrix products on H100 take 1.13 × as long as modelled (± 0.01; 4,032 kernels)"
    std::string sentence;
    /// too few samples, residual above 20 %, …; empty: it may be accepted
    std::string refused;
    bool operator==(const FittedFactor &) const = default;
};

struct CalibrationProposal {
    /// in the order of how much time they explain
    std::vector<FittedFactor> factors;
    /// |predicted / measured - 1| of held-out steps, median; with all accepted
    double errorBefore = 0, errorAfter = 0;
    int stepsFitted = 0, stepsHeldOut = 0;
    /// of the steps held out, as measured; of a proposal that was read from a file none
    std::vector<double> heldSeconds;
    /// what could not be told apart, and from what
    std::vector<std::string> notes;
    bool operator==(const CalibrationProposal &) const = default;
};

struct CalibrateOptions {
    int leastSamples = 5;
    double mostResidual = 0.2;
    /// share of the steps; every other one
    double heldOut = 0.5;
    /// empty: as the run's arguments tell, else data before pipeline
    std::optional<RankOrder> order = {};
    std::stop_token stop = {};
};

/// Errors: nothing of the run says anything of the plan; Cancelled.
[[nodiscard]] Expected<CalibrationProposal> calibrate(
    const Evaluation &evaluation, const Run &run, const Catalogue &catalogue, const CalibrateOptions &options = {});

/// Median of |predicted / measured - 1| of the steps held out; empty: there are none.
[[nodiscard]] std::optional<double> heldOutError(const CalibrationProposal &proposal, double predicted);
/// A warning where held-out steps lie farther off with the accepted factors (`after`) than before; else empty. Whoever
/// takes factors shows it first.
[[nodiscard]] std::string fartherText(const CalibrationProposal &proposal, double after);

/// The plan with these factors in `calibration` (those not refused and whose ids are named).
[[nodiscard]] Plan withFactors(
    const Plan &plan, const CalibrationProposal &proposal, const std::vector<std::string> &ids);

} // namespace trainyard
