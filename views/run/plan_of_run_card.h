#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plan that a run's files tell of: what was taken from which argument, what nobody told, and a button that makes it
// the plan of the window. GUI thread.

#include "models/plan_of_run.h"

#include <QWidget>

class QPushButton;

namespace trainyard {

class SectionTitle;
class SentenceList;
class TextLine;

class PlanOfRunCard : public QWidget {
    Q_OBJECT
public:
    explicit PlanOfRunCard(PlanOfRun &plan, QWidget *parent = nullptr);
    [[nodiscard]] QString summary() const;

    QPushButton *const make;
    SentenceList *const taken, *const assumed, *const notUnderstood, *const ignored;

signals:
    void planRequested(const trainyard::PlanPtr &plan);

private:
    void refresh();

    PlanOfRun &m_plan;
    TextLine *m_summary;
    SentenceList *m_errors;
    SectionTitle *m_takenTitle, *m_assumedTitle, *m_notUnderstoodTitle, *m_ignoredTitle;
};

} // namespace trainyard
