#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the plans of a session's variants come to: their numbers, by plan. Figures of the plan that is shown come with
// the window's own evaluations; the others are evaluated in the background while someone looks. Lives on the GUI
// thread.

#include "models/edit_history.h"
#include "models/session/session_document.h"
#include "models/watched_worker.h"

#include <map>

namespace trainyard {

class VariantFigures : public QObject {
    Q_OBJECT
public:
    VariantFigures(SessionDocument &session, const Catalogue &catalogue, QObject *parent = nullptr);

    /// Null until it is known.
    [[nodiscard]] const PlanFigures *of(const PlanPtr &plan) const;
    void note(const EvaluationPtr &evaluation);
    void noteFailure(const PlanPtr &plan);
    void setWatched(bool watched) { m_worker.setWatched(watched); }

signals:
    void figuresChanged();

private:
    void tidy();
    void work(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);

    SessionDocument &m_session;
    const Catalogue &m_catalogue;
    std::map<PlanPtr, PlanFigures> m_figures;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
