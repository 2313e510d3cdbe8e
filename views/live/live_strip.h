#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// While a run goes on: how each of its sources is, in words, its newest step measured against the plan, what was lost,
// and buttons to pause, to go back to the newest step and to disconnect. In sight only while there are sources. GUI
// thread.

#include "models/live_document.h"

#include <QTimer>
#include <QWidget>

class QHBoxLayout;
class QPushButton;
class QToolButton;

namespace trainyard {

class FigureCell;
class SourceChip;
class TextLine;

class LiveStrip : public QWidget {
    Q_OBJECT
public:
    explicit LiveStrip(LiveDocument &live, QWidget *parent = nullptr);

    /// open: the page
    QPushButton *const pause, *const follow, *const disconnectAll, *const open;
    FigureCell *const step, *const time, *const tokens, *const waiting, *const memory;
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

    LiveDocument &m_live;
    /// hidden ones wait for more sources
    std::vector<SourceChip *> m_chips;
    QHBoxLayout *m_places;
    TextLine *m_more, *m_alarms, *m_dropped;
    QTimer m_seconds;
};

} // namespace trainyard
