// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/run_comparison.h"

#include "core/base/words.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/run_pool.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/runs/overlay/curves.h"
#include "core/runs/overlay/plan_notes.h"
#include "models/plan_of_run.h"
#include "models/session/run_numbers.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

QString comparisonText(const char *source)
{
    return QCoreApplication::translate("RunComparison", source);
}

QString toldAs(const std::string &text)
{
    return QString::fromStdString(asSentence(text));
}

/// Makes one comparison, taking over what an older one has of the same sides.
class Comparing {
public:
    Comparing(const ComparedSide &before, const ComparedSide &after, const Catalogue &catalogue,
        const ComparedRunsPtr &known, const std::stop_token &stop)
        : m_catalogue(catalogue)
        , m_known(known)
        , m_stop(stop)
    {
        m_made.before = before;
        m_made.after = after;
    }

    ComparedRunsPtr make()
    {
        const PlanPtr &plan = m_made.before.plan ? m_made.before.plan : m_made.after.plan;
        if (plan)
            m_made.evaluation = evaluated(plan);
        if (m_stop.stop_requested())
            return nullptr;
        for (const std::size_t i : { 0, 1 })
            if (side(i).run)
                layOut(i);
        if (m_made.whyNot.isEmpty())
            m_made.whyNot = plan ? whyNotUnder(*plan) : whyNotBeside();
        addNotes();
        if (m_stop.stop_requested())
            return nullptr;
        addNumbers();
        addTimes();
        if (!plan)
            addKernels();
        return m_stop.stop_requested() ? nullptr : std::make_shared<const ComparedRuns>(std::move(m_made));
    }

private:
    [[nodiscard]] const ComparedSide &side(std::size_t i) const { return i == 0 ? m_made.before : m_made.after; }
    /// of the run of a plan and a run
    [[nodiscard]] std::size_t runSide() const { return m_made.before.plan ? 1 : 0; }
    [[nodiscard]] const RunStep *stepOf(std::size_t i) const
    {
        const RunOverlayPtr &overlay = m_made.overlays[i];
        return overlay && overlay->step >= 0 ? &overlay->run->steps[std::size_t(overlay->step)] : nullptr;
    }

    EvaluationPtr evaluated(const PlanPtr &plan)
    {
        if (m_known && m_known->evaluation && m_known->evaluation->plan == plan)
            return m_known->evaluation;
        auto answer = evaluate(plan, m_catalogue, RunPool::shared().workspace(), m_stop);
        if (answer)
            return *answer;
        m_made.whyNot = answer.error().empty() ? comparisonText("The plan cannot be evaluated.")
                                               : toldAs(toString(answer.error().front()));
        return nullptr;
    }

    void layOut(std::size_t i)
    {
        const RunPtr &run = side(i).run;
        RunOverlayPtr previous;
        for (const std::size_t other : { 0, 1 })
            if (m_known && m_known->overlays[other] && m_known->overlays[other]->run == run) {
                previous = m_known->overlays[other];
                m_made.curves[i] = m_known->curves[other];
            }
        m_made.overlays[i] = overlayRun(m_made.evaluation, run, { .step = side(i).step }, previous);
        const bool hasSpans =
            std::ranges::any_of(m_made.overlays[i]->rows, [](const MeasuredRow &row) { return row.size() > 0; });
        if (hasSpans)
            m_made.lanes[i] = MeasuredLanes::of(m_made.overlays[i]);
        if (!m_made.curves[i])
            m_made.curves[i] = std::make_shared<const std::vector<RunCurve>>(curvesOf({ run.get() }).curves);
    }

    [[nodiscard]] QString whyNotUnder(const Plan &plan) const
    {
        const Evaluation &evaluation = *m_made.evaluation;
        const Run &run = *side(runSide()).run;
        if (!m_made.overlays[runSide()]->evaluation)
            return comparisonText("Not compared: the plan has no iteration.");
        if (const std::string doubt = whyNotCompared(evaluation); !doubt.empty())
            return toldAs(doubt);
        if (const std::string other = workDifferences(evaluation, *run.recording); !other.empty())
            return comparisonText("Another job: %1.").arg(QString::fromStdString(other));
        const PlanOfRunFound told = planOfRun(run, plan, m_catalogue);
        if (told.isModelAssumed && told.plan && *told.plan == plan)
            return comparisonText("Not compared: no file of the run tells its model, and the plan’s is assumed.");
        return stepOf(runSide()) ? QString() : comparisonText("Not compared: the run shows no steps.");
    }

    [[nodiscard]] QString whyNotBeside() const
    {
        return stepOf(0) && stepOf(1) ? QString() : comparisonText("Not compared: one of the runs shows no steps.");
    }

    void addNotes()
    {
        QStringList &notes = m_made.notes;
        if (m_made.evaluation && !m_made.evaluation->feasible()) // as the verdict has it
            notes << comparisonText("The plan cannot run, so that it is not the run’s: its times are as if it could.");
        if (m_made.before.run && m_made.after.run)
            for (const std::string &note : jobNotes(*m_made.before.run->recording, *m_made.after.run->recording))
                notes << toldAs(note);
        const bool haveSpans = (m_made.before.plan || m_made.lanes[0]) && (m_made.after.plan || m_made.lanes[1]);
        notes << (!haveSpans ? comparisonText("A run without traces tells no GPU time by place and kind of work.")
                : m_made.evaluation
                ? comparisonText("Spans of a plan are operations, those of a run are kernels: spans are not matched, "
                                 "GPU time by place and kind of work is compared. Waiting counts as bubble.")
                : comparisonText("Spans of two runs are not matched: GPU time by rank and kind of work is compared."));
        for (const RunOverlayPtr &overlay : m_made.overlays)
            for (const std::string &note : overlay ? overlay->notes : std::vector<std::string>())
                if (!notes.contains(toldAs(note))
                    && std::ranges::find(overlay->curveNotes, note) == overlay->curveNotes.end())
                    notes << toldAs(note);
    }

    void addNumbers()
    {
        const bool isRefused = m_made.evaluation && !m_made.whyNot.isEmpty();
        const std::size_t run = runSide();
        SideNumbers sides[2];
        for (const std::size_t i : { 0, 1 }) {
            if (side(i).run)
                sides[i] = numbersOfRun(*side(i).run, stepOf(i), *m_made.curves[i]);
            else if (m_made.evaluation && !isRefused)
                sides[i] = numbersOfPlan(*m_made.evaluation);
        }
        if (m_made.evaluation && !isRefused)
            if (const QString of = takeMemory(*m_made.evaluation, *m_made.overlays[run], sides[1 - run], sides[run]);
                !of.isEmpty())
                m_made.notes << of;
        m_made.numbers = besideEachOther(sides[0], sides[1]);
    }

    void addTimes()
    {
        if (!m_made.whyNot.isEmpty())
            return;
        if (!m_made.evaluation) {
            m_made.places = placeDifferences(*side(0).run, *stepOf(0), *side(1).run, *stepOf(1));
        } else {
            const RunOverlay &overlay = *m_made.overlays[runSide()];
            m_made.places = placeDifferences(*m_made.evaluation, *overlay.run, *stepOf(runSide()), overlay.order);
            if (runSide() == 0)
                for (PlaceDifference &row : m_made.places) {
                    std::swap(row.reference, row.measured);
                    std::swap(row.isReferenceTold, row.isMeasuredTold);
                }
        }
        m_made.kinds = kindDifferences(m_made.places);
    }

    void addKernels()
    {
        const Run &before = *side(0).run, &after = *side(1).run;
        if (before.recording->spanCount() == 0 || after.recording->spanCount() == 0)
            return;
        if (m_known && m_known->kernels && m_known->kernels->run == side(1).run
            && m_known->kernels->reference == side(0).run) {
            m_made.kernels = m_known->kernels;
            return;
        }
        auto kernels = std::make_shared<ProfileOfRun>();
        kernels->run = side(1).run;
        kernels->reference = side(0).run;
        kernels->differences = kernelDifferences(kernelTable(*before.recording), kernelTable(*after.recording), true);
        m_made.kernels = std::move(kernels);
    }

    const Catalogue &m_catalogue;
    const ComparedRunsPtr &m_known;
    const std::stop_token &m_stop;
    ComparedRuns m_made;
};

} // namespace

ComparedRunsPtr comparedRuns(const ComparedSide &before, const ComparedSide &after, const Catalogue &catalogue,
    const ComparedRunsPtr &known, const std::stop_token &stop)
{
    return Comparing(before, after, catalogue, known, stop).make();
}

RunComparison::RunComparison(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(RunPool::shared().threads(), WorkPool::Rank::Search,
          [this](const Request &request, const std::stop_token &stop) {
              const ComparedRunsPtr pair =
                  comparedRuns(request.before, request.after, m_catalogue, request.known, stop);
              if (pair)
                  QMetaObject::invokeMethod(
                      this, [this, pair] { take(pair); }, Qt::QueuedConnection);
          })
{
}

void RunComparison::setSides(const ComparedSide &before, const ComparedSide &after)
{
    if (before == m_before && after == m_after)
        return;
    m_before = before;
    m_after = after;
    ask();
}

void RunComparison::setWatched(bool watched)
{
    m_isWatched = watched;
    if (watched && std::exchange(m_isOwed, false))
        ask();
}

void RunComparison::ask()
{
    m_isOwed = !m_isWatched;
    if (m_isOwed)
        return;
    const bool isAsked = m_before.isThere() && m_after.isThere() && (m_before.run || m_after.run);
    m_worker.post(isAsked ? std::optional(Request { m_before, m_after, m_pair }) : std::nullopt, true);
    if (!isAsked)
        m_pair = nullptr; // a run that was closed is not kept
    if (std::exchange(m_isUnderWay, isAsked) != isAsked)
        emit underWayChanged();
}

void RunComparison::take(const ComparedRunsPtr &pair)
{
    if (pair->before != m_before || pair->after != m_after)
        return; // another one is on its way
    m_pair = pair;
    m_isUnderWay = false;
    emit pairChanged();
    emit underWayChanged();
}

} // namespace trainyard
