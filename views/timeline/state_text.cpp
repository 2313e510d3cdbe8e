// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/state_text.h"

#include "models/text/format.h"
#include "views/timeline/track_layout.h"

#include <QCoreApplication>

#include <algorithm>

namespace trainyard {

namespace {

QString statesText(const char *text)
{
    return QCoreApplication::translate("trainyard::StateText", text);
}

const OffloadedStep *stepOf(const Evaluation &evaluation, const Track &track)
{
    const auto c = std::size_t(track.pipelineClass), s = std::size_t(track.stage);
    return c < evaluation.offloadedSteps.size() && s < evaluation.offloadedSteps[c].size()
        ? &evaluation.offloadedSteps[c][s]
        : nullptr;
}

bool isDelayed(const Evaluation &evaluation)
{
    return evaluation.plan && evaluation.plan->memory.delayedUpdate;
}

bool isOfStep(const Track &track)
{
    return track.stream >= Stream::StepToHost;
}

/// Gradients go to the drives before the step reads anything back.
bool isLateWrite(const Evaluation &evaluation, std::uint32_t span)
{
    const Track &track = trackOf(evaluation, span);
    return track.stream == Stream::StepDrive && span == track.first
        && evaluation.timeline.kind[span] == WorkKind::DriveWrite;
}

/// "12.4 GB in all, at 25 GB/s"
QString amount(double bytes, Seconds time)
{
    if (bytes <= 0 || time.value <= 0)
        return {};
    return statesText("%1 per step, at %2/s").arg(formatBytes(bytes), formatBytes(bytes / time.value));
}

/// What one stream of the step does, with its bytes where it moves some.
QStringList streamFacts(const OffloadedStep &step, WorkKind kind, const QString &shelf)
{
    switch (kind) {
    case WorkKind::GradientsToHost:
        return { statesText("gradients leave for the processors"), amount(step.sent.value, step.toHost) };
    case WorkKind::StatesToHost:
        return { statesText("states that the GPU has updated go back to host memory"),
            amount(step.toGpu.value > 0 ? step.fetched.value * (step.statesToGpu / step.toGpu) : 0, step.toHost) };
    case WorkKind::DriveRead:
        return { statesText("the optimizer's states come from %1, with what was stored of the gradients").arg(shelf),
            amount(step.readBack.value, step.read) };
    case WorkKind::DriveWrite:
        return { statesText("updated states go back to %1; its reads and writes take turns").arg(shelf) };
    case WorkKind::CpuOptimizer:
        return { statesText("the node's processors update states and weights, this GPU's share of them") };
    case WorkKind::GpuOptimizer:
        return { step.stride > 1
                ? statesText("the GPU updates 1 in %1 groups itself, the processors the others").arg(step.stride)
                : statesText("the GPU updates every group itself") };
    case WorkKind::StatesToGpu:
        return { statesText("states of the group that the GPU updates next") };
    case WorkKind::WeightsToGpu:
        return { statesText("updated weights come back"),
            step.stride > 0 ? QString() : amount(step.fetched.value, step.toGpu) };
    default:
        return {};
    }
}

QStringList layerFacts(const Evaluation &evaluation, WorkKind kind)
{
    const bool isIn = kind == WorkKind::WeightsToGpu;
    const bool onDrives = evaluation.plan
        && (isIn ? evaluation.plan->memory.parameterOffload == ParameterOffload::Ssd
                 : evaluation.plan->memory.optimizerOffload == OptimizerOffload::Ssd);
    const QString place = onDrives ? statesText("the drives") : statesText("host memory");
    return { isIn ? statesText("the layers' weights come from %1, each while the one before computes").arg(place)
                  : statesText("the layers' gradients leave for %1, each while the next one computes").arg(place) };
}

QStringList optimizerFacts(const Evaluation &evaluation, std::uint32_t span, const OffloadedStep &step)
{
    const Seconds shown = toSeconds(evaluation.timeline.end[span] - evaluation.timeline.start[span]);
    QStringList facts;
    if (isDelayed(evaluation))
        facts << statesText("the GPU waits for the update of the iteration before: %1 of its %2, the rest is hidden")
                     .arg(formatSeconds(shown.value), formatSeconds(step.time.value));
    else
        facts << statesText("the GPU waits for the update of what lies off it, in %1 groups of parameters")
                     .arg(step.groups);
    if (step.stride > 0)
        facts << streamFacts(step, WorkKind::GpuOptimizer, {});
    return facts;
}

} // namespace

QString stateRowName(const Evaluation &evaluation, const Track &track)
{
    const OffloadedStep *step = stepOf(evaluation, track);
    switch (track.stream) {
    case Stream::WeightsIn:
        return statesText("← weights");
    case Stream::GradientsOut:
        return statesText("→ gradients");
    case Stream::StepToHost:
        return statesText("→ host");
    case Stream::StepDrive:
        return statesText("drives");
    case Stream::StepCpu:
        return statesText("CPU");
    case Stream::StepGpu:
        return step && step->stride > 1 ? statesText("GPU, 1 in %1 groups").arg(step->stride)
                                        : statesText("GPU update");
    case Stream::StepToGpu:
        return statesText("← host");
    default:
        return {};
    }
}

QString optimizerPlace(const Evaluation &evaluation, std::uint32_t span)
{
    if (evaluation.timeline.kind[span] != WorkKind::Optimizer)
        return {};
    const OffloadedStep *step = stepOf(evaluation, trackOf(evaluation, span));
    if (!step || step->time.value <= 0)
        return {};
    return step->stride > 0 ? statesText("on host and GPU") : statesText("on the host");
}

QString stepGroup(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const Track &track = trackOf(evaluation, span);
    if (!isOfStep(track) || isLateWrite(evaluation, span))
        return {};
    int before = 0, all = 0;
    for (std::uint32_t other = track.first; other < track.last; ++other) {
        if (timeline.kind[other] != timeline.kind[span] || isLateWrite(evaluation, other))
            continue;
        ++all;
        before += other <= span ? 1 : 0;
    }
    const OffloadedStep *step = stepOf(evaluation, track);
    if (all < 2 || !step)
        return {};
    // Cycles hold several groups, and a write may be cut in two.
    return all == step->groups ? statesText("group %1 of %2").arg(before).arg(all)
                               : statesText("part %1 of %2").arg(before).arg(all);
}

QStringList stateFacts(const Evaluation &evaluation, std::uint32_t span)
{
    const Track &track = trackOf(evaluation, span);
    const WorkKind kind = evaluation.timeline.kind[span];
    QStringList facts;
    if (const OffloadedStep *step = stepOf(evaluation, track)) {
        if (isOfStep(track)) {
            facts = isLateWrite(evaluation, span) ? QStringList { statesText(
                        "gradients of the last micro-batch that the backward had no time to write to the drives") }
                                                  : streamFacts(*step, kind, statesText("the drives"));
            if (isDelayed(evaluation))
                facts << statesText("of the update of the iteration before, beside this one");
        } else if (!optimizerPlace(evaluation, span).isEmpty()) {
            facts = optimizerFacts(evaluation, span, *step);
        }
    }
    if (track.stream == Stream::WeightsIn || track.stream == Stream::GradientsOut)
        facts = layerFacts(evaluation, kind);
    facts.removeAll(QString());
    return facts;
}

} // namespace trainyard
