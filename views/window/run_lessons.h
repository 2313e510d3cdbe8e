#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has to say of the plan itself: the factors that it teaches and the plan that its files tell of, on the
// page of the run, and the wires from there to the document. GUI thread.

#include "models/plan_of_run.h"
#include "models/run_calibration.h"

namespace trainyard {

class CalibrationCard;
class FileActions;
class MessageBar;
class PlanOfRunCard;
class RunPage;
struct WindowModels;

class RunLessons : public QObject {
    Q_OBJECT
public:
    RunLessons(const WindowModels &models, RunDocument &runs, RunPage &page, FileActions &files, MessageBar &messages,
        QObject *parent);

    [[nodiscard]] RunCalibration &calibration() { return m_calibration; }
    [[nodiscard]] PlanOfRun &planOfRun() { return m_planOfRun; }

    /// from the run that is open, in sight
    void learn();
    /// that the run tells of; asks about unsaved work first
    void makePlan();
    [[nodiscard]] CalibrationCard &card() { return *m_card; }
    [[nodiscard]] CalibrationCard &ownFactors() { return *m_own; } // of the plan, where no run is open
    [[nodiscard]] PlanOfRunCard &planCard() { return *m_planCard; }

signals:
    /// of the run
    void pageRequested();
    /// what can be done
    void changed();

private:
    void showPlan();
    void offerPlan();

    PlanDocument &m_document;
    RunDocument &m_runs;
    RunPage &m_page;
    FileActions &m_files;
    MessageBar &m_messages;
    RunCalibration m_calibration;
    PlanOfRun m_planOfRun;
    /// the page's
    CalibrationCard *m_card, *m_own;
    PlanOfRunCard *m_planCard;
    /// nothing has been offered of it yet
    bool m_isNewRun = false;
    /// the plan of the next run is taken without asking
    bool m_isPlanWanted = false;
};

} // namespace trainyard
