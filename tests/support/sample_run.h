#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs under an evaluation for tests and benchmarks of views: what its timeline predicts, a share longer, with noise
// and cut into kernels, as overlayRun() would say it of a recording. Made by hand, so that views can be tested without
// recordings.

#include "core/runs/overlay/run_overlay.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace trainyard::test {

struct RunShape {
    double longer = 0.11; // of each span and of the step
    double noise = 0.05; // of the length of each span
    int kernels = 3; // that an operation consists of
    std::set<int> missingStages; // nobody recorded any of their ranks
    std::set<int> partlyMissing; // or the last one of them
    int ranksPerStage = 2;
};

inline const std::vector<std::string> &kernelNames()
{
    static const std::vector<std::string> names { "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>(Params)",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, float)",
        "Memcpy HtoD (Pinned -> Device)" };
    return names;
}

inline RecordedWork recordedAs(WorkKind kind)
{
    switch (kind) {
    case WorkKind::PipelineTransfer:
    case WorkKind::WanTransfer:
    case WorkKind::Collective:
    case WorkKind::GradientReduce:
    case WorkKind::ParameterGather:
        return RecordedWork::Communication;
    case WorkKind::OffloadStore:
    case WorkKind::OffloadLoad:
        return RecordedWork::Copy;
    default:
        return RecordedWork::Compute;
    }
}

/// The key that a track has, told apart from the code under test.
inline TrackKey sampleKey(const Evaluation &evaluation, const Track &track)
{
    const PipelineClass &of = evaluation.layout.classes[std::size_t(track.pipelineClass)];
    TrackKey key;
    key.firstReplica = of.firstPipeline;
    key.replicas = of.pipelines;
    key.stage = track.stage;
    key.stream = track.stream;
    key.peer = track.toStage;
    return key;
}

inline std::shared_ptr<RunOverlay> sampleRun(const EvaluationPtr &evaluation, const RunShape &shape = {})
{
    const Timeline &timeline = evaluation->timeline;
    auto recording = std::make_shared<Recording>();
    recording->names = kernelNames();
    auto run = std::make_shared<Run>();
    run->recording = recording;
    auto overlay = std::make_shared<RunOverlay>();
    overlay->evaluation = evaluation;
    overlay->duration = Nanoseconds(double(timeline.duration) * (1 + shape.longer));
    RunStep step;
    step.number = 12;
    step.seconds = double(overlay->duration) * 1e-9;
    run->steps.push_back(step);
    run->typicalStep = overlay->step = 0;
    overlay->run = run;
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, shape.noise);
    for (const Track &track : timeline.tracks) {
        MeasuredRow row;
        row.key = sampleKey(*evaluation, track);
        for (int r = 0; r < shape.ranksPerStage; ++r)
            row.ranks.push_back(track.stage * shape.ranksPerStage + r);
        row.shown = row.ranks.front();
        if (shape.missingStages.contains(track.stage)) {
            row.missing = row.ranks;
            row.shown = -1;
        } else {
            if (shape.partlyMissing.contains(track.stage))
                row.missing.push_back(row.ranks.back());
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                const auto at = [&](Nanoseconds t) { return double(t) * (1 + shape.longer); };
                const double begin = at(timeline.start[span]), length = at(timeline.end[span]) - begin;
                const RecordedWork work = recordedAs(timeline.kind[span]);
                double from = begin;
                for (int k = 0; k < shape.kernels; ++k) {
                    const double to = std::min(
                        begin + length, from + length / shape.kernels * std::clamp(1 + noise(random), 0.2, 1.8));
                    row.start.push_back(Nanoseconds(from));
                    row.end.push_back(Nanoseconds(to - length / shape.kernels * 0.08));
                    row.work.push_back(work);
                    row.name.push_back(work == RecordedWork::Compute ? (k % 2 == 0 ? 0u : 2u)
                            : work == RecordedWork::Copy             ? 3u
                                                                     : 1u);
                    from = to;
                }
            }
        }
        overlay->rows.push_back(std::move(row));
    }
    return overlay;
}

} // namespace trainyard::test
