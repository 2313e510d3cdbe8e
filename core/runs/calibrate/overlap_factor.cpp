// SPDX-License-Identifier: GPL-3.0-or-later
// Overlap: the share of communication beside which a rank computed, against what the model says of its stage.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/iteration/cost/kernel_seconds.h"
#include "core/runs/calibrate/calibration_case_internal.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/calibrate/hidden_samples.h"
#include "core/runs/calibrate/robust_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr double kLeastHidden = 0.01; // of the communication

} // namespace

void addOverlapFactor(CalibrationCase &of)
{
    if (!of.workload.source.hasLayers)
        return;
    std::map<std::pair<const PipelineClass *, int>, HiddenCommunication> models;
    std::vector<double> modelled, measured;
    int none = 0, all = 0;
    for (const HiddenSample &sample : hiddenSamples(of.run, of.fitted, of.map, of.options.stop)) {
        const PipelineClass *pipelines = classOf(of.workload, of.map, sample.rank);
        if (!pipelines)
            continue;
        const int stage = of.map.placeOf(sample.rank).stage;
        const auto [known, isNew] = models.try_emplace({ pipelines, stage });
        if (isNew)
            known->second = hiddenCommunication(of.workload, *pipelines, stage);
        const HiddenCommunication &model = known->second;
        // Shares, so that links that are slower than modelled do not look like less overlap.
        const double total = sample.isTensor ? model.tensor : model.reduce + model.gather;
        const double hidden = sample.isTensor ? model.tensorHidden : model.reduceHidden + model.gatherHidden;
        if (total <= 0 || hidden < kLeastHidden * total)
            continue;
        if (sample.seconds <= 0)
            continue;
        ++all, none += sample.hidden <= 0;
        modelled.push_back(sample.seconds * hidden / total);
        measured.push_back(sample.hidden);
    }
    if (all <= 0)
        return;
    if (2 * none > all) {
        of.note(
            "Nothing of the communication is hidden under computing, though the stack hides some: overlap is left as "
            "it is, since a factor cannot be 0");
        return;
    }
    // Of shares, not of their logarithms: some steps may hide nothing.
    const auto fit = robustFit(modelled, measured, 1, modelled, of.options.stop);
    if (!fit || fit->coefficients.front() <= 0)
        return;
    const double factor = fit->coefficients.front(), error = fit->standardErrors.front();
    FittedFactor fitted { .id = "overlap" };
    fitted.factor.what = CalibratedPart::Overlap;
    fitted.factor.factor = factor;
    fitted.factor.samples = fit->samples;
    setError(fitted.factor.standardError, error);
    std::vector<double> line, off;
    for (std::size_t i = 0; i < modelled.size(); ++i) {
        line.push_back(modelled[i] * factor);
        off.push_back(std::abs(measured[i] / line.back() - 1));
    }
    fitted.factor.r2 = r2Of(line, measured);
    fitted.residual = medianOf(std::move(off));
    fitted.sentence = "Communication is hidden under computing " + plainText(factor) + " × as much as modelled (± "
        + plainText(error) + "; " + wholeText(fit->samples) + " steps of a group)"
        + (none > 0 ? ", nothing of it in " + wholeText(none) + " of them" : "");
    of.propose(std::move(fitted));
}

} // namespace trainyard
