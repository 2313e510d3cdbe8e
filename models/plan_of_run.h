#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plan that a run's files tell of: arguments, model, machines. Made beside the GUI thread for each run, and again
// when the plan in the window changes, whose hardware and software fill in what no file tells. It replaces nothing by
// itself. GUI thread.

#include "models/plan_document.h"
#include "models/run_document.h"

#include <QObject>
#include <QStringList>

#include <memory>

namespace trainyard {

class Catalogue;

struct PlanOfRunFound {
    /// null: there is none, see errors
    PlanPtr plan;
    /// a sentence each
    QStringList taken, assumed, notUnderstood, ignored;
    /// why there is none; empty where no file tells of a plan
    QStringList errors;
    /// than the plan in the window, in what a run can tell of a job: differences
    bool isOther = false;
    /// "Tensor parallelism 4 → 2", a sentence each: the plan's, the run's
    QStringList differences;
    /// no file tells the model: the plan has one that is taken in its place
    bool isModelAssumed = false;
    /// "Llama 3 8B on 64 GPUs, TP 2, PP 4"
    QString summary;
};

class PlanOfRun : public QObject {
    Q_OBJECT
public:
    PlanOfRun(RunDocument &runs, PlanDocument &document, const Catalogue &catalogue, QObject *parent = nullptr);
    ~PlanOfRun() override;

    [[nodiscard]] const PlanOfRunFound &found() const { return m_found; }
    /// There is a plan, and it is not the one in the window.
    [[nodiscard]] bool isOffered() const { return m_found.plan && m_found.isOther; }

signals:
    void changed();

private:
    void find();

    RunDocument &m_runs;
    PlanDocument &m_document;
    const Catalogue &m_catalogue;
    PlanOfRunFound m_found;
    std::uint64_t m_generation = 0;
    /// last: its work uses what is above
    BackgroundQueue m_queue;
};

/// Whether a run is files that tell a plan and nothing of what happened: no step, span or sample.
[[nodiscard]] bool tellsPlanAlone(const Run &run);
/// Pure; any thread. `shown`: the plan in the window.
[[nodiscard]] PlanOfRunFound planOfRun(const Run &run, const Plan &shown, const Catalogue &catalogue);

} // namespace trainyard
