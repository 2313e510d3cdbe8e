#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One of two timelines beside each other: that of a plan, or of a step of a run, whose number can be chosen. Both have
// one axis and bars in the same places. GUI thread.

#include "models/session/run_comparison.h"
#include "views/timeline/time_axis.h"

#include <QWidget>

class QSpinBox;
class QStackedLayout;

namespace trainyard {

class MeasuredChart;
class TextLine;
class TimelineView;

class ComparedTimeline : public QWidget {
    Q_OBJECT
public:
    explicit ComparedTimeline(QWidget *parent = nullptr);

    TimelineView *const plan;
    MeasuredChart *const run;
    /// of the run; its least value is the typical one
    QSpinBox *const step;

    /// Name, and steps that can be chosen.
    void setSide(const ComparedSide &side);
    /// What is drawn: `place` 0 is before, 1 after.
    void show(const ComparedRuns &pair, std::size_t place);
    void setStale(bool isStale);
    [[nodiscard]] TimeInterval visibleRange() const;
    void setVisibleRange(Nanoseconds begin, Nanoseconds end);
    void showCursor(qint64 time);

signals:
    void rangeChanged(qint64 begin, qint64 end);
    void cursorMoved(qint64 time);
    /// empty: the typical one
    void stepChosen(std::optional<std::int64_t> number);

private:
    QStackedLayout *m_stack;
    TextLine *m_name;
};

/// Of the longer of both sides, nanoseconds.
[[nodiscard]] Nanoseconds commonEnd(const ComparedRuns &pair);

} // namespace trainyard
