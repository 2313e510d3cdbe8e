// SPDX-License-Identifier: GPL-3.0-or-later
// Host and overlap: where the time of a step went on each rank, against what the model says of its stage.
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

constexpr double kLeastHost = 1e-4; // of a step: less than that is no host time to fit
constexpr double kLeastHidden = 0.01; // of the communication
constexpr double kMix = 0.0025; // relative error of a hidden share, whatever its spread
constexpr double kFirst = 1.0 / 64, kLast = 64; // factors of the host that are looked for
constexpr int kHalvings = 40;

/// Time that the host takes of a stage by its factor: it only grows.
class HostCurve {
public:
    HostCurve(const CalibrationCase &of, const PipelineClass &pipelines, int stage)
    {
        for (double factor = kFirst; factor <= kLast * 1.0001; factor *= std::sqrt(2.0))
            m_points.emplace_back(
                factor, hostSeconds(of.workload, pipelines, stage, factor, of.recomputedOf(pipelines, stage)));
    }
    [[nodiscard]] double seconds(double factor) const
    {
        const auto next = std::ranges::lower_bound(m_points, factor, {}, &std::pair<double, double>::first);
        if (next == m_points.begin())
            return next->second;
        if (next == m_points.end())
            return m_points.back().second;
        const auto &[a, atA] = *(next - 1);
        return atA + (next->second - atA) * (factor - a) / (next->first - a);
    }
    [[nodiscard]] std::optional<double> factorOf(double seconds_) const
    {
        if (seconds_ <= m_points.front().second || seconds_ >= m_points.back().second)
            return std::nullopt;
        double low = kFirst, high = kLast;
        for (int i = 0; i < kHalvings; ++i) {
            const double middle = std::sqrt(low * high);
            (seconds(middle) < seconds_ ? low : high) = middle;
        }
        return std::sqrt(low * high);
    }

private:
    std::vector<std::pair<double, double>> m_points;
};

/// Of each rank within its own window: the job's step reaches over gaps that belong to the next step of a rank.
std::vector<RankStep> ownShares(const Run &run, const RunStep &step, int stages)
{
    std::vector<RankStep> shares;
    for (const RankWindow &window : step.ranks) {
        RunStep own = step;
        own.start = window.start, own.end = window.end;
        own.ranks = { window };
        std::ranges::copy(sharesOf(run, own, stages), std::back_inserter(shares));
    }
    return shares;
}

double r2Of(const std::vector<double> &line, const std::vector<double> &measured)
{
    double left = 0, all = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
        left += std::pow(measured[i] - line[i], 2), all += measured[i] * measured[i];
    return all > 0 ? 1 - left / all : 0;
}

void addHost(CalibrationCase &of)
{
    std::map<std::pair<const PipelineClass *, int>, HostCurve> curves;
    std::vector<double> ones, factors, modelled, measured;
    std::size_t outside = 0;
    for (const int index : of.fitted) {
        // Nothing runs behind the last step, so that the gap at its end is not seen.
        if (of.fitted.size() > 1 && std::size_t(index) + 1 == of.run.steps.size())
            continue;
        const RunStep &step = of.run.steps[std::size_t(index)];
        for (const RankStep &rank : ownShares(of.run, step, of.map.stages())) {
            const int number = of.run.recording->ranks[rank.rank].rank;
            const PipelineClass *pipelines = classOf(of.workload, of.map, number);
            if (!pipelines)
                continue;
            const int stage = of.map.placeOf(number).stage;
            auto known = curves.find({ pipelines, stage });
            if (known == curves.end())
                known = curves.emplace(std::pair(pipelines, stage), HostCurve(of, *pipelines, stage)).first;
            const HostCurve &curve = known->second;
            if (curve.seconds(1) < kLeastHost * step.seconds)
                continue;
            const auto factor = curve.factorOf(rank.shares.host);
            if (!factor) {
                ++outside;
                continue;
            }
            ones.push_back(1);
            factors.push_back(*factor);
            modelled.push_back(curve.seconds(1));
            measured.push_back(rank.shares.host);
        }
    }
    if (factors.empty()) {
        of.note(outside > 0
                ? "What the ranks wait for their hosts is far from what the plan can be: no factor of the "
                  "host explains it"
                : "The plan has no time of the host that shows, or the run no gaps: nothing is said of hosts");
        return;
    }
    const auto fit = fitRatio(ones, factors);
    if (!fit)
        return;
    FittedFactor fitted { .id = "host" };
    fitted.factor.what = CalibratedPart::Host;
    fitted.factor.factor = fit->factor;
    fitted.factor.samples = fit->samples;
    fitted.factor.standardError = fit->standardError;
    std::vector<double> line;
    for (const double seconds : modelled)
        line.push_back(seconds * fit->factor);
    fitted.factor.r2 = r2Of(line, measured);
    fitted.residual = fit->residual;
    fitted.sentence = "The host takes " + factorText(fit->factor, fit->standardError) + "; gaps of "
        + wholeText(fit->samples) + " steps of a rank)";
    of.propose(std::move(fitted));
}

void addOverlap(CalibrationCase &of)
{
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
    // The shares are of the model's mix of collectives, which the run's never is to the last one.
    const double error = std::hypot(fit->standardError, kMix * fit->factor);
    fitted.factor.standardError = error;
    std::vector<double> line;
    for (const double seconds : modelled)
        line.push_back(seconds * fit->factor);
    fitted.factor.r2 = r2Of(line, measured);
    fitted.residual = fit->residual;
    fitted.sentence = "Communication is hidden under computing " + plainText(fit->factor) + " × as much as modelled (± "
        + plainText(error) + "; " + wholeText(fit->samples) + " steps of a group)";
    of.propose(std::move(fitted));
}

} // namespace

void addStepFactors(CalibrationCase &of)
{
    if (!of.workload.source.hasLayers)
        return;
    addHost(of);
    addOverlap(of);
}

} // namespace trainyard
