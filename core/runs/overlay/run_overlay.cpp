// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/run_overlay.h"

#include "core/runs/overlay/curves.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/plan_notes.h"
#include "core/runs/overlay/reported_job.h"
#include "core/runs/overlay/rows.h"

#include <algorithm>

namespace trainyard {

namespace {

bool hasIteration(const EvaluationPtr &evaluation)
{
    return evaluation && evaluation->metrics.iterationTime && !evaluation->metrics.jobs && evaluation->layout.data > 0;
}

/// Index of the step that is asked for, else of the typical one.
int chosenStep(const Run &run, const OverlayOptions &options, std::vector<std::string> &notes)
{
    if (options.step) {
        if (const int index = stepIndex(run, *options.step); index >= 0)
            return index;
        notes.push_back("The run has no step " + std::to_string(*options.step) + ": the typical one is shown");
    }
    return run.typicalStep;
}

/// What has to be known before all: where plan and run are not of one job.
void noteJob(RunOverlay &overlay, const RankMap &map)
{
    const Recording &recording = *overlay.run->recording;
    if (recording.ranks.empty()) {
        overlay.notes = jobNotes(*overlay.evaluation, recording);
        overlay.notes.push_back("The run has no traces: no row shows it");
        return;
    }
    for (std::string note : { worldNote(recording, map, static_cast<int>(overlay.missingRanks.size())),
             workNote(*overlay.evaluation, recording) })
        if (!note.empty())
            overlay.notes.push_back(std::move(note));
}

/// Rows of the plan's places.
void addRows(RunOverlay &overlay, const RankMap &map, const RowsAsked &asked)
{
    const Recording &recording = *overlay.run->recording;
    if (recording.ranks.empty())
        return noteJob(overlay, map);
    const RankBook book = rankBook(recording);
    overlay.rows = rowsUnder(*overlay.evaluation, map, book, asked);
    for (int rank = 0; rank < map.worldSize(); ++rank)
        if (static_cast<std::size_t>(rank) >= book.recordings.size()
            || book.recordings[static_cast<std::size_t>(rank)] == kNoIndex)
            overlay.missingRanks.push_back(rank);
    noteJob(overlay, map);
    overlay.notes.insert(overlay.notes.end(), book.notes.begin(), book.notes.end());
}

/// Step, its rows and what they need; without a map rows of a run alone.
void addChosenStep(RunOverlay &overlay, const RankMap *map, const OverlayOptions &options)
{
    const Run &run = *overlay.run;
    std::vector<std::string> ofStep;
    overlay.step = chosenStep(run, options, ofStep);
    const RunStep *step = overlay.step >= 0 ? &run.steps[static_cast<std::size_t>(overlay.step)] : nullptr;
    overlay.duration = step && step->hasSpans() ? step->end - step->start : 0;
    const int stages = map ? planStages(*overlay.evaluation) : 0;
    const std::vector<RankStep> shares = step ? sharesOf(run, *step, stages) : std::vector<RankStep>();
    if (step && !overlay.reference)
        overlay.differences = differences(overlay.evaluation.get(), run, *step, shares);
    const RowsAsked asked { &run, step, &shares, options.rank };
    if (map)
        addRows(overlay, *map, asked);
    else
        overlay.rows = rowsAlone(asked);
    overlay.notes.insert(overlay.notes.end(), ofStep.begin(), ofStep.end());
}

/// Empty: nobody asks for one, or tells it.
std::optional<RankOrder> orderOf(const Recording &recording, const OverlayOptions &options)
{
    return options.order ? options.order : reportedJob(recording).order;
}

/// By which ranks are laid on places, with a sentence where it is not what frameworks do unasked, or nobody tells.
RankMap mapOf(
    const Evaluation &plan, const Recording &recording, const OverlayOptions &options, std::vector<std::string> &notes)
{
    const auto told = orderOf(recording, options);
    RankMap map(*plan.plan, plan.layout, told.value_or(RankOrder::DataBeforePipeline));
    if (!options.order && told == RankOrder::PipelineBeforeData)
        notes.push_back("The run was started with --use-tp-pp-dp-mapping: its ranks are numbered over stages before "
                        "replicas");
    if (!told && !recording.ranks.empty() && map.stages() > 1 && map.replicas() > 1)
        notes.push_back("Nothing tells how ranks were numbered: over replicas before stages, as Megatron-LM does by "
                        "default");
    return map;
}

void addNotes(RunOverlay &overlay, const std::vector<std::string> &notes)
{
    for (const std::string &note : notes)
        if (std::ranges::find(overlay.notes, note) == overlay.notes.end())
            overlay.notes.push_back(note);
}

bool isOfSame(const RunOverlayPtr &previous, const RunOverlay &overlay)
{
    return previous && previous->run == overlay.run && previous->evaluation == overlay.evaluation
        && previous->reference == overlay.reference;
}

/// What depends on no step.
void takeOver(RunOverlay &overlay, const RunOverlay &previous)
{
    overlay.curves = previous.curves;
    overlay.suspects = previous.suspects;
    overlay.curveNotes = previous.curveNotes;
    addNotes(overlay, overlay.curveNotes);
}

} // namespace

TrackKey keyOf(const Evaluation &evaluation, const Track &track)
{
    TrackKey key { .firstReplica = track.pipelineClass, .replicas = 1, .stage = track.stage, .stream = track.stream };
    const auto &classes = evaluation.layout.classes;
    if (track.pipelineClass >= 0 && static_cast<std::size_t>(track.pipelineClass) < classes.size()) {
        const PipelineClass &own = classes[static_cast<std::size_t>(track.pipelineClass)];
        key.firstReplica = own.firstPipeline;
        key.replicas = own.pipelines;
    }
    key.peer = track.toStage;
    return key;
}

const MeasuredRow *RunOverlay::rowOf(const TrackKey &key) const
{
    const auto found = std::ranges::find(rows, key, &MeasuredRow::key);
    return found == rows.end() ? nullptr : &*found;
}

RunOverlayPtr overlayRun(
    const EvaluationPtr &evaluation, const RunPtr &run, const OverlayOptions &options, const RunOverlayPtr &previous)
{
    auto overlay = std::make_shared<RunOverlay>();
    overlay->run = run;
    overlay->order = orderOf(*run->recording, options).value_or(RankOrder::DataBeforePipeline);
    overlay->evaluation = hasIteration(evaluation) ? evaluation : nullptr;
    if (evaluation && !overlay->evaluation)
        overlay->notes.push_back("The plan has no iteration: the run is shown alone");
    std::optional<RankMap> map;
    std::vector<std::string> ofOrder;
    if (overlay->evaluation)
        map = mapOf(*evaluation, *run->recording, options, ofOrder);
    addChosenStep(*overlay, map ? &*map : nullptr, options);
    addNotes(*overlay, ofOrder);
    if (isOfSame(previous, *overlay)) {
        takeOver(*overlay, *previous);
        return overlay;
    }
    const bool isOther = map && !workDifferences(*evaluation, *run->recording).empty(); // nothing is predicted of it
    CurvesMade made =
        curvesOf({ run.get(), isOther ? nullptr : overlay->evaluation.get(), map && !isOther ? &*map : nullptr });
    overlay->curves = std::move(made.curves);
    overlay->curveNotes = std::move(made.notes);
    addNotes(*overlay, overlay->curveNotes);
    overlay->suspects = findSuspects(*run, map.value_or(RankMap()), overlay->evaluation.get());
    return overlay;
}

RunOverlayPtr overlayRuns(
    const RunPtr &reference, const RunPtr &run, const OverlayOptions &options, const RunOverlayPtr &previous)
{
    auto overlay = std::make_shared<RunOverlay>();
    overlay->run = run;
    overlay->reference = reference;
    overlay->notes = jobNotes(*reference->recording, *run->recording);
    addChosenStep(*overlay, nullptr, options);
    if (overlay->step >= 0 && reference->typicalStep >= 0)
        overlay->differences =
            differences(*reference, reference->steps[static_cast<std::size_t>(reference->typicalStep)], *run,
                run->steps[static_cast<std::size_t>(overlay->step)]);
    else
        overlay->notes.push_back("One of the two runs has no steps: there is nothing to compare");
    if (isOfSame(previous, *overlay)) {
        takeOver(*overlay, *previous);
        return overlay;
    }
    CurvesMade made = curvesOf({ run.get() });
    overlay->curves = std::move(made.curves);
    overlay->curveNotes = std::move(made.notes);
    addNotes(*overlay, overlay->curveNotes);
    compareCurves(overlay->curves, curvesOf({ reference.get() }).curves);
    overlay->suspects = findSuspects(*run, RankMap());
    return overlay;
}

} // namespace trainyard
