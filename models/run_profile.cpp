// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/run_profile.h"

#include "models/background_queue.h"

#include <set>
#include <utility>

namespace trainyard {

struct RunProfile::Private {
    std::set<const QObject *> seenBy;
    ProfilePtr shown;
    bool isMaking = false;
    BackgroundQueue queue; // last: its work uses what is above
};

ProfilePtr profileOf(const RunPtr &run, const RunPtr &reference, int step, const ProfilePtr &before)
{
    auto made = std::make_shared<ProfileOfRun>();
    const bool isSameRun = before && before->run == run;
    if (isSameRun)
        *made = *before;
    made->run = run;
    if (!isSameRun) {
        made->trace = std::make_shared<const TraceRows>(run->recording, run->clockShift);
        made->idle = idleByCause(*run->recording);
        made->queues = launchQueues(*run->recording);
        made->kernels = kernelTable(*run->recording);
        made->roofline = rooflineOf(*run->recording, builtinCatalogue());
    }
    if (!isSameRun || made->reference != reference)
        made->differences = reference
            ? std::optional(kernelDifferences(kernelTable(*reference->recording), made->kernels, true))
            : std::nullopt;
    made->reference = reference;
    if (!isSameRun || made->step != step) {
        made->step = step;
        made->path = step >= 0 ? measuredPath(*run, run->steps[std::size_t(step)]) : MeasuredPath();
        made->pathShares = sharesOfPath(*run->recording, made->path);
    }
    return made;
}

RunProfile::RunProfile(RunDocument &runs, QObject *parent)
    : QObject(parent)
    , m_runs(runs)
    , d(std::make_unique<Private>())
{
    connect(&runs, &RunDocument::runChanged, this, [this] {
        if (d->shown && d->shown->run != m_runs.run()) {
            d->queue.dispose(std::exchange(d->shown, nullptr));
            emit changed();
        }
        refresh();
    });
    connect(&runs, &RunDocument::overlayChanged, this, &RunProfile::refresh);
    connect(&runs, &RunDocument::optionsChanged, this, &RunProfile::refresh);
}

RunProfile::~RunProfile()
{
    d->queue.wait();
}

void RunProfile::setSeen(const QObject *by, bool isSeen)
{
    if (isSeen)
        d->seenBy.insert(by);
    else
        d->seenBy.erase(by);
    refresh();
}

const ProfilePtr &RunProfile::shown() const
{
    return d->shown;
}

bool RunProfile::isMaking() const
{
    return d->isMaking;
}

void RunProfile::refresh()
{
    const RunPtr &run = m_runs.run();
    if (d->isMaking || d->seenBy.empty() || !run || m_runs.isLive())
        return;
    const RunStep *shown = m_runs.step();
    const int step = shown ? stepIndex(*run, shown->number) : -1;
    const ProfilePtr &now = d->shown;
    if (now && now->run == run && now->reference == m_runs.reference() && now->step == step)
        return;
    d->isMaking = true;
    emit changed();
    d->queue.run(
        this,
        [run, reference = m_runs.reference(), step, before = d->shown] {
            return profileOf(run, reference, step, before);
        },
        [this](ProfilePtr made) {
            d->isMaking = false;
            if (made->run == m_runs.run())
                std::swap(d->shown, made);
            d->queue.dispose(std::move(made));
            emit changed();
            refresh(); // what changed meanwhile
        });
}

} // namespace trainyard
