#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A line of the workbench that says which run lies under the timeline, with its steps to go through. In sight only
// while there is one that is over: of one that goes on the line of its sources says it. GUI thread.

#include "models/run_document.h"

#include <QWidget>

class QPushButton;
class QToolButton;

namespace trainyard {

class StepScrubber;
class TextLine;

class RunBadge : public QWidget {
    Q_OBJECT
public:
    explicit RunBadge(RunDocument &runs, QWidget *parent = nullptr);

    /// opens the page
    QPushButton *const compare;
    QToolButton *const closeRun;
    StepScrubber *const scrubber;
    [[nodiscard]] QString text() const;

signals:
    void pageRequested();

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void refresh();

    RunDocument &m_runs;
    TextLine *m_name, *m_result;
};

} // namespace trainyard
