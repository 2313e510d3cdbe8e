#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the run that lies under the plan teaches: asked for, found beside the GUI thread, kept until another run comes.
// The newest request wins; one under way is cancelled by another run, another request or cancel(). It changes no plan.
// GUI thread.

#include "models/calibration_rows.h"
#include "models/run_document.h"

#include <QObject>

#include <functional>
#include <memory>

namespace trainyard {

class RunCalibration : public QObject {
    Q_OBJECT
public:
    /// As calibrate() does, but for tests; called in the background.
    using Fit = std::function<Expected<CalibrationProposal>(
        const EvaluationPtr &evaluation, const RunPtr &run, const std::stop_token &stop)>;
    RunCalibration(RunDocument &runs, const Catalogue &catalogue, QObject *parent = nullptr);
    RunCalibration(RunDocument &runs, const Catalogue &catalogue, Fit fit, QObject *parent = nullptr);
    ~RunCalibration() override;

    /// Learns from the run under the plan that is shown; nothing where there is no run or no evaluation.
    void start();
    /// what was found last stays
    void cancel();

    [[nodiscard]] bool canStart() const;
    [[nodiscard]] bool isFitting() const;
    /// null: nothing was found yet
    [[nodiscard]] const ProposalPtr &proposal() const;
    /// of the last request; empty: none
    [[nodiscard]] const QString &failure() const;
    /// The plan that the run was compared with; null without a proposal.
    [[nodiscard]] PlanPtr fittedPlan() const;
    [[nodiscard]] const Catalogue &catalogue() const { return m_catalogue; }

signals:
    void fittingChanged(bool isFitting);
    /// a proposal or a failure came, or went with its run
    void proposalChanged();
    void canStartChanged();

private:
    void forget();

    struct Private;
    const Catalogue &m_catalogue;
    std::unique_ptr<Private> d;
};

} // namespace trainyard
