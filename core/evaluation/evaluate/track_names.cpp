// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/track_names.h"

namespace trainyard {

int datacenterOf(const Evaluation &evaluation, const Track &track)
{
    const auto &classes = evaluation.layout.classes;
    if (track.pipelineClass < 0 || std::size_t(track.pipelineClass) >= classes.size())
        return -1;
    const auto &locations = classes[std::size_t(track.pipelineClass)].locations;
    return track.stage < 0 || std::size_t(track.stage) >= locations.size()
        ? -1
        : locations[std::size_t(track.stage)].datacenter;
}

std::string datacenterName(const Evaluation &evaluation, const Track &track)
{
    const int index = datacenterOf(evaluation, track);
    const auto &datacenters = evaluation.plan->cluster.datacenters;
    return index < 0 || std::size_t(index) >= datacenters.size() ? std::string()
                                                                 : datacenters[std::size_t(index)].label();
}

std::string pipelinesName(const Evaluation &evaluation, const Track &track)
{
    const auto &classes = evaluation.layout.classes;
    if (track.pipelineClass < 0 || std::size_t(track.pipelineClass) >= classes.size())
        return "pipeline";
    const PipelineClass &c = classes[std::size_t(track.pipelineClass)];
    if (evaluation.metrics.jobs)
        return "GPUs";
    const std::string first = std::to_string(c.firstPipeline);
    return c.pipelines == 1 ? "pipeline " + first
                            : "pipelines " + first + "\u2013" + std::to_string(c.firstPipeline + c.pipelines - 1);
}

std::string trackName(const Track &track)
{
    const std::string stage = "stage " + std::to_string(track.stage + 1); // people count from 1, JSON and CSV from 0
    switch (track.stream) {
    case Stream::Compute:
        return stage;
    case Stream::Wan:
        return stage + " \u2192 " + std::to_string(track.toStage + 1) + " WAN";
    case Stream::Copy: // of a cell's transfer
        if (track.toStage >= 0)
            return stage
                + (track.toStage == track.stage ? " gather" : " scatter \u2192 " + std::to_string(track.toStage + 1));
        [[fallthrough]];
    default:
        return stage + " " + toString(track.stream);
    }
}

std::string trackName(const Evaluation &evaluation, const Track &track)
{
    if (!evaluation.metrics.jobs)
        return trackName(track);
    const std::string gpu = "GPU " + std::to_string(track.stage);
    switch (track.stream) {
    case Stream::Compute:
        return gpu;
    case Stream::Load:
        return gpu + " \u2190 host";
    case Stream::Store:
        return gpu + " \u2192 host";
    default:
        return gpu + " " + toString(track.stream);
    }
}

const char *toString(Stream stream)
{
    switch (stream) {
    case Stream::Compute:
        return "compute";
    case Stream::Wan:
        return "wan";
    case Stream::Collective:
        return "collective";
    case Stream::Copy:
        return "copy";
    case Stream::Prefill:
        return "prefill";
    case Stream::Store:
        return "store";
    case Stream::Load:
        return "load";
    case Stream::WeightsIn:
        return "weights in";
    case Stream::GradientsOut:
        return "gradients out";
    case Stream::StepToHost:
        return "to host";
    case Stream::StepDrive:
        return "drives";
    case Stream::StepCpu:
        return "CPU";
    case Stream::StepGpu:
        return "GPU update";
    case Stream::StepToGpu:
        return "to GPU";
    }
    return "";
}

} // namespace trainyard
