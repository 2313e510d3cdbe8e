// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/run_calibration.h"

#include "models/background_queue.h"

#include <stop_token>

namespace trainyard {

struct RunCalibration::Private {
    Private(RunDocument &document, Fit work)
        : runs(document)
        , fit(std::move(work))
    {
    }
    RunDocument &runs;
    Fit fit;
    QStringList paths; // of the run that is being learned from, or was: read again, it is the same
    EvaluationPtr evaluation; // it is compared with
    ProposalPtr proposal;
    QString failure;
    bool isFitting = false, couldStart = false;
    std::uint64_t generation = 0;
    std::stop_source stop;
    BackgroundQueue queue; // last: its work uses what is above
};

RunCalibration::RunCalibration(RunDocument &runs, const Catalogue &catalogue, QObject *parent)
    : RunCalibration(
        runs, catalogue,
        [&catalogue](const EvaluationPtr &evaluation, const RunPtr &run, const std::stop_token &stop) {
            CalibrateOptions options;
            options.stop = stop;
            return calibrate(*evaluation, *run, catalogue, options);
        },
        parent)
{
}

RunCalibration::RunCalibration(RunDocument &runs, const Catalogue &catalogue, Fit fit, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , d(std::make_unique<Private>(runs, std::move(fit)))
{
    connect(&runs, &RunDocument::runChanged, this, [this] {
        if (!d->runs.run() || d->paths != d->runs.paths())
            forget();
    });
    connect(&runs, &RunDocument::overlayChanged, this, [this] {
        if (std::exchange(d->couldStart, canStart()) != d->couldStart)
            emit canStartChanged();
    });
}

RunCalibration::~RunCalibration()
{
    d->stop.request_stop();
    d->queue.wait();
}

bool RunCalibration::canStart() const
{
    return d->runs.run() && d->runs.evaluation();
}

void RunCalibration::start()
{
    if (!canStart())
        return;
    d->stop.request_stop();
    d->stop = {};
    const std::uint64_t generation = ++d->generation;
    const bool wasFitting = std::exchange(d->isFitting, true);
    d->paths = d->runs.paths();
    d->failure.clear();
    if (!wasFitting)
        emit fittingChanged(true);
    d->queue.run(
        this,
        [fit = d->fit, evaluation = d->runs.evaluation(), run = d->runs.run(), stop = d->stop.get_token()] {
            return stop.stop_requested() ? std::unexpected(Error { ErrorCode::Cancelled, {}, {}, {} })
                                         : fit(evaluation, run, stop);
        },
        [this, generation, evaluation = d->runs.evaluation()](Expected<CalibrationProposal> found) {
            if (generation != d->generation)
                return;
            d->isFitting = false;
            d->evaluation = found ? evaluation : nullptr;
            d->proposal = found ? std::make_shared<const CalibrationProposal>(*std::move(found)) : nullptr;
            if (!found && found.error().code != ErrorCode::Cancelled) {
                d->failure = QString::fromStdString(found.error().what);
                if (!found.error().right.empty())
                    d->failure += tr("; expected %1").arg(QString::fromStdString(found.error().right));
            }
            emit fittingChanged(false);
            emit proposalChanged();
        });
}

void RunCalibration::cancel()
{
    if (!d->isFitting)
        return;
    d->stop.request_stop();
    ++d->generation;
    d->isFitting = false;
    emit fittingChanged(false);
}

/// Another run: what the last one taught is not of it.
void RunCalibration::forget()
{
    cancel();
    d->paths.clear();
    d->evaluation = nullptr;
    d->failure.clear();
    d->couldStart = canStart();
    d->proposal = nullptr;
    emit proposalChanged();
    emit canStartChanged();
}

bool RunCalibration::isFitting() const
{
    return d->isFitting;
}

const ProposalPtr &RunCalibration::proposal() const
{
    return d->proposal;
}

const QString &RunCalibration::failure() const
{
    return d->failure;
}

PlanPtr RunCalibration::fittedPlan() const
{
    return d->evaluation ? d->evaluation->plan : nullptr;
}

} // namespace trainyard
