#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A small Gantt chart of the jobs of one evaluation: a line a GPU, in the colours of the jobs, over a time axis that
// several of them share, with the bound that no schedule by shards can beat. Kept as an image. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <QImage>
#include <QWidget>

namespace trainyard {

class MiniGantt : public QWidget {
    Q_OBJECT
public:
    explicit MiniGantt(QWidget *parent = nullptr);

    /// Null: nothing is known. `whole`: of the axis. `bound`: of the plan.
    void setEvaluation(EvaluationPtr evaluation, Nanoseconds whole, Metric bound);
    /// of a plan that is no longer the one shown
    void setFaded(bool faded);
    /// The chart without axis and lines, a pixel a column.
    [[nodiscard]] const QImage &picture();
    /// where it lies
    [[nodiscard]] QRect plotRect() const;
    [[nodiscard]] QSize sizeHint() const override { return { 300, 60 }; }
    [[nodiscard]] QSize minimumSizeHint() const override { return { 160, 44 }; }

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool event(QEvent *event) override;

private:
    void paintRows();
    [[nodiscard]] double xOf(double seconds) const;
    [[nodiscard]] QString describe(QPoint at) const;

    EvaluationPtr m_evaluation;
    Nanoseconds m_whole = 0;
    Metric m_bound;
    bool m_isFaded = false;
    QImage m_image;
};

} // namespace trainyard
