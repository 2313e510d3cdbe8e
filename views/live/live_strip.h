#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// While a run goes on: how each of its sources is, in words, its newest step measured against the plan, alarms and what
// was lost on a line that is always there, and buttons to pause, to go back to the newest step and to disconnect. Over
// the timeline also the way through its steps; one that was gone back to stands in the place of the newest's figures.
// In sight only while there are sources. GUI thread.

#include "models/live_document.h"

#include <QTimer>
#include <QWidget>

class QHBoxLayout;
class QPushButton;
class QToolButton;

namespace trainyard {

class FigureCell;
class SourceChip;
class StepScrubber;
class TextLine;

class LiveStrip : public QWidget {
    Q_OBJECT
public:
    /// `runs`: whose steps are gone through; null: elsewhere.
    explicit LiveStrip(LiveDocument &live, RunDocument *runs = nullptr, QWidget *parent = nullptr);

    /// open: the page
    QPushButton *const pause, *const follow, *const disconnectAll, *const open;
    /// null without `runs`
    StepScrubber *const scrubber;
    /// shown: of an older step, in sight while that is shown
    FigureCell *const shown, *const step, *const time, *const tokens, *const waiting, *const memory;
    /// those in sight, in words
    [[nodiscard]] QStringList sources() const;
    [[nodiscard]] QString dropped() const;
    /// On the page itself there is nothing to open.
    void setOpenShown(bool isShown);

signals:
    void pageRequested();

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void arrange();
    void showSources();
    void showFigures();
    void showFollowing();
    void showTimes();
    void showHeld();
    /// The newest step or an older one.
    void showPlace();

    LiveDocument &m_live;
    RunDocument *const m_runs;
    /// hidden ones wait for more sources
    std::vector<SourceChip *> m_chips;
    QHBoxLayout *m_places;
    TextLine *m_more, *m_alarms, *m_dropped;
    QTimer m_seconds;
};

} // namespace trainyard
