#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A run that goes on, all of it in sight at once: how its sources are, the strip of its newest step, the step time over
// its steps beside what the plan says, alarms in words, and what would be if. Reads the live document and the document
// of the run; proposes plans. GUI thread.

#include "models/live_document.h"

#include <QWidget>

class QPushButton;

namespace trainyard {

class AlarmList;
class AlarmRulesView;
class Invitation;
class LiveStrip;
class RunPlot;
class SourceTable;
class StepScrubber;
class TextLine;
class WhatIfList;

class LivePage : public QWidget {
    Q_OBJECT
public:
    LivePage(LiveDocument &live, RunDocument &runs, QWidget *parent = nullptr);

    QPushButton *const back, *const save, *const compare;
    LiveStrip *const strip;
    SourceTable *const sources;
    AlarmList *const alarms;
    AlarmRulesView *const rules;
    WhatIfList *const whatIfs;
    RunPlot *const plot;
    StepScrubber *const scrubber;
    Invitation *const invitation;
    /// of the step that is shown
    [[nodiscard]] QString stepText() const;

signals:
    void closed();
    void connectRequested();
    void replayRequested();
    void saveRequested();
    /// a file of alarm rules
    void rulesRequested();
    /// the page that lays the plan against the run
    void compareRequested();

protected:
    void showEvent(QShowEvent *event) override;

private:
    void arrange();
    [[nodiscard]] QWidget *makeLeft();
    [[nodiscard]] QWidget *makeRight();
    void wire();
    void showState();
    void showCurves();
    void showStep();

    LiveDocument &m_live;
    RunDocument &m_runs;
    QWidget *m_body;
    TextLine *m_overview, *m_step, *m_noCurve;
    bool m_isOwed = false;
};

} // namespace trainyard
