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
    std::optional<double> iterationTime; // seconds; empty where the plan cannot be evaluated
    std::optional<double> usdPerMtok; // dollars per million tokens
    double memoryBytes = 0; // of the fullest GPU; 0: unknown
    bool fits = true, feasible = true;
    bool isOfJobs = false; // then the time is that of them all
};

struct HistoryStep {
    QString text; // "Schedule 1F1B → ZB-H1"; of the first: "Opened"
    std::optional<PlanFigures> figures; // after it; empty until they are known
    std::optional<double> change; // iteration ÷ that of the step before − 1
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
    [[nodiscard]] std::vector<PlanPtr> plans() const; // as opened, then after each edit
    [[nodiscard]] PlanPtr firstUnknown() const;

    PlanDocument &m_document;
    const Catalogue &m_catalogue;
    std::map<PlanPtr, PlanFigures> m_figures;
    std::vector<HistoryStep> m_steps;
    WatchedWorker m_worker; // last: its thread uses everything above
};

[[nodiscard]] PlanFigures figuresOf(const Evaluation &evaluation);

} // namespace trainyard
