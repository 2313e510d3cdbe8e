// SPDX-License-Identifier: GPL-3.0-or-later
// Overlap: the share of communication beside which a rank computed, against what the model says of its stage.
#include "core/base/number_text.h"
#include "core/calibrate/calibration_case_internal.h"
#include "core/calibrate/collective_samples.h"
#include "core/calibrate/hidden_samples.h"
#include "core/calibrate/robust_fit.h"
#include "core/cost/kernel_seconds.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr double kLeastHidden = 0.01; // of the communication

double r2Of(const std::vector<double> &line, const std::vector<double> &measured)
{
    double left = 0, all = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
        left += std::pow(measured[i] - line[i], 2), all += measured[i] * measured[i];
    return all > 0 ? 1 - left / all : 0;
}

} // namespace

void addOverlapFactor(CalibrationCase &of)
{
    if (!of.workload.source.hasLayers)
        return;
    std::map<std::pair<const PipelineClass *, int>, HiddenCommunication> models;
    std::vector<double> modelled, measured;
    int none = 0, all = 0;
    for (const HiddenSample &sample : hiddenSamples(of.run, of.fitted, of.map)) {
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
        ++all;
        if (sample.hidden <= 0) {
            ++none;
            continue;
        }
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
    const auto fit = fitRatio(modelled, measured);
    if (!fit)
        return;
    FittedFactor fitted { .id = "overlap" };
    fitted.factor.what = CalibratedPart::Overlap;
    fitted.factor.factor = fit->factor;
    fitted.factor.samples = fit->samples;
    const double error = fit->standardError;
    setError(fitted.factor.standardError, error);
    std::vector<double> line;
    for (const double seconds : modelled)
        line.push_back(seconds * fit->factor);
    fitted.factor.r2 = r2Of(line, measured);
    fitted.residual = fit->residual;
    fitted.sentence = "Communication is hidden under computing " + plainText(fit->factor) + " × as much as modelled (± "
        + plainText(error) + "; " + wholeText(fit->samples) + " steps of a group)";
    of.propose(std::move(fitted));
}

} // namespace trainyard
