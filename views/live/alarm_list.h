#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Alarms of a live run in words, those that hold first, with who acknowledged them and until when they are muted. A
// click goes to the step and the place that one is about; A acknowledges the one that has the focus, M mutes it for an
// hour, or no more. GUI thread.

#include "models/live_document.h"

#include <QWidget>

class QPushButton;
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
    struct Answers {
        QPushButton *acknowledge, *mute;
    };
    /// of a row in sight
    [[nodiscard]] Answers answersOf(std::size_t row) const { return m_answers[row]; }
    [[nodiscard]] QString emptyText() const;
    /// the run is another job's; empty: nothing says so
    [[nodiscard]] QString warning() const;

signals:
    void alarmChosen(const trainyard::watch::Alarm &alarm);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void refresh();
    void addRow();
    void showRow(std::size_t at);
    void acknowledge(std::size_t at);
    /// For an hour; of one that is muted: no more.
    void toggleMute(std::size_t at);

    LiveDocument &m_live;
    std::vector<watch::Alarm> m_shown;
    /// hidden ones wait for more
    std::vector<LiveRow *> m_rows;
    std::vector<Answers> m_answers;
    QVBoxLayout *m_place;
    TextLine *m_other, *m_empty, *m_more;
};

} // namespace trainyard
