// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/gpu_use.h"

#include "core/engine/timeline/analysis.h"

#include <algorithm>

namespace trainyard {

namespace {

double computeShare(const Metrics &metrics, const Track &track)
{
    const auto c = std::size_t(track.pipelineClass), s = std::size_t(track.stage);
    return c < metrics.computeShare.size() && s < metrics.computeShare[c].size() ? metrics.computeShare[c][s] : 1;
}

} // namespace

std::vector<double> gpuUse(const Evaluation &evaluation, std::uint32_t track, int buckets)
{
    std::vector<double> use = utilization(evaluation.timeline, track, buckets, isTrainingCompute);
    const double share = computeShare(evaluation.metrics, evaluation.timeline.tracks[track]);
    for (double &value : use)
        value *= share;
    return use;
}

std::vector<double> fleetUse(const Evaluation &evaluation, int buckets, int stage)
{
    std::vector<double> mean(std::size_t(std::max(0, buckets)), 0.0);
    const auto &classes = evaluation.layout.classes;
    double weights = 0;
    for (std::uint32_t t = 0; t < evaluation.timeline.tracks.size(); ++t) {
        const Track &track = evaluation.timeline.tracks[t];
        if (track.stream != Stream::Compute || (stage >= 0 && track.stage != stage))
            continue;
        double weight = 1;
        if (track.pipelineClass < int(classes.size())) {
            const PipelineClass &of = classes[std::size_t(track.pipelineClass)];
            weight = of.pipelines;
            if (track.stage < int(of.locations.size())) // where tensor groups are not alike everywhere
                weight *= std::max(1, of.locations[std::size_t(track.stage)].tensor);
        }
        const std::vector<double> own = gpuUse(evaluation, t, buckets);
        for (std::size_t i = 0; i < mean.size() && i < own.size(); ++i)
            mean[i] += weight * own[i];
        weights += weight;
    }
    for (double &value : mean)
        value = weights > 0 ? value / weights : 0;
    return mean;
}

} // namespace trainyard
