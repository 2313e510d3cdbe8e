// SPDX-License-Identifier: GPL-3.0-or-later
// What a run document shows: its run laid under an evaluation, step by step, also while the run goes on.
#include "models/run_document_internal.h"

#include <algorithm>
#include <utility>

namespace trainyard {

void RunDocument::setEvaluation(const EvaluationPtr &evaluation)
{
    if (std::exchange(d->evaluation, evaluation) != evaluation)
        makeOverlay();
}

void RunDocument::setStep(std::optional<std::int64_t> number)
{
    ++d->choices;
    if (d->live)
        d->live->step.reset();
    if (std::exchange(d->options.step, number) == number)
        return;
    emit optionsChanged();
    makeOverlay();
}

void RunDocument::setRank(std::optional<int> rank)
{
    if (std::exchange(d->options.rank, rank) == rank)
        return;
    emit optionsChanged();
    makeOverlay();
}

void RunDocument::show(const OpenedRun &opened, std::optional<std::int64_t> step)
{
    if (!opened.run)
        return;
    if (d->isReading && d->readsAgain) // it would take its old place
        cancel();
    if (opened.run == d->run.run && !d->live)
        return setStep(step);
    d->live.reset();
    ++d->readings;
    d->drop(std::exchange(d->run.run, nullptr));
    d->run = opened;
    d->options = { .step = step };
    if (d->reference.run == opened.run)
        d->reference = {};
    d->watchRun();
    emit runChanged();
    makeOverlay();
}

void RunDocument::showReference(const OpenedRun &opened)
{
    if (!opened.run || opened.run == d->reference.run)
        return;
    d->drop(std::exchange(d->reference.run, nullptr));
    d->reference = opened;
    emit runChanged();
    makeOverlay();
}

const OpenedRun &RunDocument::opened() const
{
    return d->run;
}

const OpenedRun &RunDocument::openedReference() const
{
    return d->reference;
}

void RunDocument::showLive(const RunPtr &run, std::optional<std::int64_t> step)
{
    if (!run)
        return;
    Private::Live next { run, step, d->live && d->live->isShown };
    if (d->live)
        d->drop(std::exchange(d->live->run, nullptr));
    d->live = std::move(next);
    makeOverlay();
}

void RunDocument::endLive()
{
    if (!d->live)
        return;
    const bool wasShown = d->live->isShown;
    d->live.reset();
    if (wasShown)
        emit runUpdated();
}

bool RunDocument::isLive() const
{
    return d->live && d->live->isShown;
}

/// One at a time: what is asked for meanwhile is made next, and nothing between.
void RunDocument::makeOverlay()
{
    const RunPtr run = d->live ? d->live->run : d->run.run;
    d->isOwed = run != nullptr;
    if (!d->isOwed || std::exchange(d->isMaking, true))
        return;
    d->isOwed = false;
    OverlayOptions options = d->options;
    const std::optional<std::int64_t> liveStep = d->live ? d->live->step : std::nullopt;
    if (liveStep)
        options.step = liveStep;
    d->making.run(
        this,
        [asked = OverlayAsked { d->evaluation, run, d->reference.run, options, d->parts,
             d->referenceOf != d->reference.run }] { return makeOverlayOf(asked); },
        [this, choices = d->choices, liveStep, reading = d->readings, isOfLive = d->live.has_value()](
            MadeOverlay made) {
            d->isMaking = false;
            // A live run goes on while its overlay is made: an older state of it is shown too, else a fast one never
            // would be.
            const bool isOfRun =
                made.overlay && (made.overlay->run == d->run.run || (isOfLive && d->live && reading == d->readings));
            if (isOfRun && made.referenceOf == d->reference.run)
                show(std::move(made), choices == d->choices ? liveStep : std::nullopt);
            else
                d->drop(std::move(made.overlay));
            if (d->isOwed)
                makeOverlay();
        });
}

void RunDocument::show(MadeOverlay made, std::optional<std::int64_t> liveStep)
{
    if (made.referenceCurves)
        d->referenceCurves = std::move(made.referenceCurves);
    else if (!made.referenceOf)
        d->referenceCurves = std::make_shared<const std::vector<RunCurve>>();
    d->drop(std::exchange(d->referenceOf, made.referenceOf));
    RunOverlayPtr oldOverlay = std::exchange(d->overlay, made.overlay);
    MeasuredLanesPtr oldLanes = std::exchange(d->lanes, made.lanes);
    RunPtr oldRun = std::exchange(d->run.run, made.overlay->run);
    d->verdict = std::move(made.verdict);
    d->dropParts(std::exchange(d->parts, made.parts));
    if (liveStep)
        d->options.step = liveStep;
    const bool isOther = oldRun != d->run.run, isFirst = isOther && d->live && !std::exchange(d->live->isShown, true);
    if (isFirst)
        d->run.paths.clear();
    const RunOverlayPtr overlay = d->overlay; // whoever hears of it may close the run
    if (isFirst)
        emit runChanged();
    else if (isOther)
        emit runUpdated();
    if (overlay == d->overlay)
        emit overlayChanged(overlay);
    // After the views have let go of it, so that theirs is not the last reference.
    d->drop(std::move(oldLanes));
    d->drop(std::move(oldOverlay));
    d->drop(std::move(oldRun));
}

bool RunDocument::isReading() const
{
    return d->isReading;
}

bool RunDocument::isReadingReference() const
{
    return d->isReading && d->readsReference;
}

bool RunDocument::isWatching() const
{
    return d->isWatching;
}

const ReadingProgress &RunDocument::progress() const
{
    return d->progress;
}

const QStringList &RunDocument::paths() const
{
    return d->run.paths;
}

const RunPtr &RunDocument::run() const
{
    return d->run.run;
}

const RunPtr &RunDocument::reference() const
{
    return d->reference.run;
}

const RunOverlayPtr &RunDocument::overlay() const
{
    return d->overlay;
}

const MeasuredLanesPtr &RunDocument::lanes() const
{
    return d->lanes;
}

const VerdictPtr &RunDocument::verdict() const
{
    return d->verdict;
}

const OverlayOptions &RunDocument::options() const
{
    return d->options;
}

const std::vector<RunCurve> &RunDocument::referenceCurves() const
{
    return *d->referenceCurves;
}

const EvaluationPtr &RunDocument::evaluation() const
{
    return d->evaluation;
}

const RunStep *RunDocument::step() const
{
    if (!d->run.run || d->run.run->steps.empty())
        return nullptr;
    const std::vector<RunStep> &steps = d->run.run->steps;
    if (d->options.step)
        if (const int at = stepIndex(*d->run.run, *d->options.step); at >= 0)
            return &steps[std::size_t(at)];
    const int typical = d->run.run->typicalStep;
    return typical >= 0 && std::size_t(typical) < steps.size() ? &steps[std::size_t(typical)] : nullptr;
}

int RunDocument::slowestStep() const
{
    if (!d->run.run)
        return -1;
    const std::vector<RunStep> &steps = d->run.run->steps;
    int slowest = -1;
    bool isPlain = false; // neither warm-up nor outlier
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool counts = !steps[i].isWarmUp && !steps[i].isOutlier;
        if (slowest < 0 || (counts && !isPlain)
            || (counts == isPlain && steps[i].seconds > steps[std::size_t(slowest)].seconds)) {
            slowest = int(i);
            isPlain = counts;
        }
    }
    return slowest;
}

} // namespace trainyard
