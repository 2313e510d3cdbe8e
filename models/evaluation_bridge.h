#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Between the window and the evaluation worker: plans go out, evaluations come back on the GUI thread, never an older
// one after a newer. The last evaluation stays until the next; meanwhile it is stale. Holds the pinned baseline.

#include "core/base/newest_worker.h"
#include "core/evaluation/advice/evaluator.h"
#include "models/background_queue.h"

#include <QObject>

#include <mutex>

namespace trainyard {

class EvaluationBridge : public QObject {
    Q_OBJECT
public:
    explicit EvaluationBridge(const Catalogue &catalogue, QObject *parent = nullptr);
    ~EvaluationBridge() override;

    void request(const PlanPtr &plan, Urgency urgency);

    [[nodiscard]] const EvaluationPtr &evaluation() const { return m_shown; } // null until the first
    /// The last evaluation of a committed plan: what it is while a drag previews another. Null where that one failed.
    [[nodiscard]] const EvaluationPtr &settled() const { return m_settled; }
    [[nodiscard]] bool isStale() const { return m_isStale; }
    /// Nothing was evaluated for what is shown: it was known when its plan was asked about.
    [[nodiscard]] bool wasKnown() const { return m_wasKnown; }
    [[nodiscard]] const EvaluationPtr &baseline() const { return m_baseline; }
    /// the settled one, also while a drag previews another
    void pinBaseline();
    void clearBaseline();
    /// The plan that has just been opened is the baseline, as soon as it is evaluated: the one that is shown or, where
    /// work on it was recovered, `opening`.
    void pinOpening(const PlanPtr &opening = nullptr);
    /// Another variant's plan is the baseline, as soon as it is evaluated; until then the last one stays.
    void pinPlan(const PlanPtr &plan);
    /// Nobody pinned the baseline: it is the plan as it was opened.
    [[nodiscard]] bool isBaselineOpening() const { return m_isOpening; }

signals:
    void evaluationFinished(const trainyard::EvaluationPtr &evaluation);
    /// The last evaluation is not of this plan, and none will come.
    void evaluationFailed(const trainyard::PlanPtr &plan, const trainyard::Errors &errors);
    void staleChanged(bool isStale);
    void baselineChanged(const trainyard::EvaluationPtr &baseline);

private:
    struct Aside {
        PlanPtr plan;
        bool isOpening = false;
    };
    /// worker thread
    void arrived(EvaluationResult result);
    void takeNewest();
    void finish(std::uint64_t generation, const EvaluationPtr &evaluation, bool wasKnown);
    void fail(const EvaluationResult &result);
    void setStale(bool isStale);
    void takeOpening();
    /// Null: nothing more.
    void evaluateAside(const PlanPtr &plan, bool isOpening);
    /// worker thread
    void workAside(const Aside &aside, const std::stop_token &stop);

    EvaluationPtr m_shown, m_settled, m_baseline;
    /// generation of the newest request
    std::uint64_t m_asked = 0;
    /// results of older generations are not shown: the user has decided since
    std::uint64_t m_firstWanted = 0;
    PlanPtr m_settledPlan;
    bool m_isStale = false, m_wasKnown = false;
    bool m_awaitsOpening = false, m_isOpening = false;
    /// is evaluated to be compared with; null: none is
    PlanPtr m_asidePlan;
    const Catalogue &m_catalogue;
    BackgroundQueue m_disposal;
    std::mutex m_mutex;
    /// guarded by m_mutex: one event, however many results came in a frame
    std::optional<EvaluationResult> m_newest;
    /// last: its thread uses what is above
    Evaluator m_evaluator;
    /// of plans that are compared with and not shown
    NewestWorker<Aside> m_aside;
};

} // namespace trainyard
