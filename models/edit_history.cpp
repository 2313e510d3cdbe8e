// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/edit_history.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/evaluate/comparable.h"
#include "models/effects.h"
#include "models/plan_command.h"
#include "models/text/format.h"

#include <algorithm>
#include <functional>

namespace trainyard {

PlanFigures figuresOf(const Evaluation &evaluation)
{
    const Metrics &metrics = evaluation.metrics;
    PlanFigures figures;
    figures.iterationTime = timeOf(metrics);
    figures.isOfJobs = metrics.jobs.has_value();
    figures.usdPerMtok = metrics.cost.usdPerMillionTokens;
    figures.feasible = evaluation.feasible();
    figures.isComparable = whyNotCompared(evaluation).empty();
    if (metrics.memory) {
        figures.fits = metrics.memory->fits;
        figures.memoryBytes = fullestBytes(*metrics.memory);
    }
    return figures;
}

PlanFigures figuresOf(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop)
{
    if (const auto answer = evaluate(plan, catalogue, workspace, stop, Depth::Score))
        return figuresOf(**answer);
    PlanFigures none;
    none.feasible = false;
    return none;
}

EditHistory::EditHistory(PlanDocument &document, const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_document(document)
    , m_catalogue(catalogue)
    , m_worker(std::bind_front(&EditHistory::catchUp, this))
{
    connect(&document.undoGroup(), &QUndoGroup::indexChanged, this, &EditHistory::list);
    connect(&document, &PlanDocument::exchanged, this, &EditHistory::list);
    connect(&document, &PlanDocument::replaced, this, [this] {
        const std::vector<PlanPtr> all = plans();
        std::erase_if(m_figures, [&](const auto &entry) { return std::ranges::find(all, entry.first) == all.end(); });
        list();
    });
    list();
}

std::vector<PlanPtr> EditHistory::plans() const
{
    const QUndoStack &stack = m_document.undoStack();
    std::vector<PlanPtr> plans;
    for (int i = 0; i < stack.count(); ++i) {
        const auto *step = static_cast<const PlanCommand *>(stack.command(i));
        if (i == 0)
            plans.push_back(step->before());
        plans.push_back(step->after());
    }
    if (plans.empty())
        plans.push_back(m_document.plan());
    return plans;
}

void EditHistory::list()
{
    const QUndoStack &stack = m_document.undoStack();
    const std::vector<PlanPtr> all = plans();
    m_steps.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
        HistoryStep step;
        step.text = i == 0 ? tr("Opened") : stack.text(int(i) - 1);
        step.isCurrent = int(i) == stack.index();
        step.isUndone = int(i) > stack.index();
        if (const auto found = m_figures.find(all[i]); found != m_figures.end())
            step.figures = found->second;
        if (i > 0 && step.figures && m_steps.back().figures) {
            const auto &before = m_steps.back().figures->iterationTime, &after = step.figures->iterationTime;
            const bool isAlike = m_steps.back().figures->isOfJobs == step.figures->isOfJobs
                && m_steps.back().figures->isComparable && step.figures->isComparable;
            if (before && after && *before > 0 && isAlike)
                step.change = *after / *before - 1;
        }
        m_steps.push_back(std::move(step));
    }
    m_worker.setPlan(firstUnknown());
    emit stepsChanged();
}

/// The current plan's figures are on their way already.
PlanPtr EditHistory::firstUnknown() const
{
    for (const PlanPtr &plan : plans())
        if (plan != m_document.plan() && !m_figures.contains(plan))
            return plan;
    return nullptr;
}

void EditHistory::catchUp(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    const PlanFigures figures = figuresOf(plan, m_catalogue, workspace, stop);
    if (stop.stop_requested())
        return;
    deliver([this, plan, figures] {
        m_figures.insert_or_assign(plan, figures);
        list();
    });
}

void EditHistory::note(const EvaluationPtr &evaluation)
{
    // An edit that was tried before is evaluated at once, before the stack has it: told by the document's plan.
    const std::vector<PlanPtr> all = plans();
    const bool isOurs = evaluation->plan == m_document.plan() || std::ranges::find(all, evaluation->plan) != all.end();
    if (!isOurs || m_figures.contains(evaluation->plan))
        return; // only tried, or known
    m_figures.insert_or_assign(evaluation->plan, figuresOf(*evaluation));
    list();
}

void EditHistory::noteFailure(const PlanPtr &plan)
{
    PlanFigures none;
    none.feasible = false;
    m_figures.insert_or_assign(plan, none);
    list();
}

void EditHistory::goTo(int step)
{
    m_document.undoStack().setIndex(step);
}

void EditHistory::setWatched(bool watched)
{
    m_worker.setWatched(watched);
}

QString EditHistory::toTsv() const
{
    QString text = tr("edit\titeration_s\tchange\tusd_per_mtok\tmemory_bytes\tfits\n");
    for (const HistoryStep &step : m_steps) {
        const PlanFigures figures = step.figures.value_or(PlanFigures {});
        const auto number = [](const std::optional<double> &value) {
            return value ? QString::number(*value, 'g', 9) : QString();
        };
        text += QStringList { step.text, number(figures.iterationTime), number(step.change), number(figures.usdPerMtok),
            figures.memoryBytes > 0 ? QString::number(figures.memoryBytes, 'f', 0) : QString(),
            step.figures ? (figures.fits ? QStringLiteral("yes") : QStringLiteral("no")) : QString() }
                    .join(u'\t')
            + u'\n';
    }
    return text;
}

} // namespace trainyard
