#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Alarms of a live run in words, those that hold first. A click goes to the step and the place that one is about.
// GUI thread.

#include "models/live_document.h"

#include <QWidget>

class QVBoxLayout;

namespace trainyard {

class LiveRow;
class TextLine;

class AlarmList : public QWidget {
    Q_OBJECT
public:
    explicit AlarmList(LiveDocument &live, QWidget *parent = nullptr);
    [[nodiscard]] QString toTsv() const;
    /// in sight
    [[nodiscard]] std::vector<LiveRow *> rows() const;
    [[nodiscard]] QString emptyText() const;
    /// the run is another job's; empty: nothing says so
    [[nodiscard]] QString warning() const;

signals:
    void alarmChosen(const trainyard::watch::Alarm &alarm);

private:
    void refresh();

    LiveDocument &m_live;
    std::vector<watch::Alarm> m_shown;
    /// hidden ones wait for more
    std::vector<LiveRow *> m_rows;
    QVBoxLayout *m_place;
    TextLine *m_other, *m_empty, *m_more;
};

} // namespace trainyard
