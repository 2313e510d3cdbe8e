#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The edits since a plan was opened, each with what it cost and gained: the undo stack's steps beside the figures of
// the plans between them. Figures come with the evaluations that the window asks for anyway; plans that were passed too
// fast to be evaluated are caught up on in the background while someone looks. Lives on the GUI thread.

#include "models/plan_document.h"
#include "models/watched_worker.h"

#include <map>
#include <optional>
#include <vector>

namespace trainyard {

/// What a step of the history tells of a plan.
struct PlanFigures {
    /// seconds; empty where the plan cannot be evaluated
    std::optional<double> iterationTime;
    /// dollars per million tokens
    std::optional<double> usdPerMtok;
    /// of the fullest GPU; 0: unknown
    double memoryBytes = 0;
    bool fits = true, feasible = true;
    /// then the time is that of them all
    bool isOfJobs = false;
    /// its figures may be set against another's (core/evaluation/evaluate/comparable.h)
    bool isComparable = true;
};

struct HistoryStep {
    /// "Schedule 1F1B → ZB-H1"; of the first: "Opened"
    QString text;
    /// after it; empty until they are known
    std::optional<PlanFigures> figures;
    /// iteration ÷ that of the step before − 1
    std::optional<double> change;
    bool isUndone = false;
    bool isCurrent = false;
};

class EditHistory : public QObject {
    Q_OBJECT
public:
    EditHistory(PlanDocument &document, const Catalogue &catalogue, QObject *parent = nullptr);

    /// The plan as opened first, then one step for each edit, those undone included.
    [[nodiscard]] const std::vector<HistoryStep> &steps() const { return m_steps; }
    /// Undoes or redoes up to a step; 0: as opened.
    void goTo(int step);
    void note(const EvaluationPtr &evaluation);
    void noteFailure(const PlanPtr &plan);
    void setWatched(bool watched);
    [[nodiscard]] QString toTsv() const;

signals:
    void stepsChanged();

private:
    void list();
    void catchUp(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);
    /// as opened, then after each edit
    [[nodiscard]] std::vector<PlanPtr> plans() const;
    [[nodiscard]] PlanPtr firstUnknown() const;

    PlanDocument &m_document;
    const Catalogue &m_catalogue;
    std::map<PlanPtr, PlanFigures> m_figures;
    std::vector<HistoryStep> m_steps;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

[[nodiscard]] PlanFigures figuresOf(const Evaluation &evaluation);
/// Of a plan that is evaluated for them; not feasible where it cannot be. Any thread.
[[nodiscard]] PlanFigures figuresOf(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop);

} // namespace trainyard
