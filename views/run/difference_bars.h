#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where plan and run disagree: both steps as stacked bars of one scale, and below a line a kind of work with its
// seconds in either, the difference, and the difference as a bar from a middle line. The last line adds them up. GUI
// thread.

#include "core/runs/overlay/run_overlay.h"

#include <QWidget>

namespace trainyard {

class DifferenceBars : public QWidget {
    Q_OBJECT
public:
    explicit DifferenceBars(QWidget *parent = nullptr);

    void setOverlay(const RunOverlayPtr &overlay);
    /// What stands in a line of the table: kind, plan, run, difference; the last line is the sum.
    struct Line {
        QString name, reference, measured, difference;
        /// the difference
        double seconds = 0;
        /// none: the sum
        QColor color;
        QString meaning;
    };
    [[nodiscard]] const std::vector<Line> &lines() const { return m_lines; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    [[nodiscard]] int lineHeight() const;
    [[nodiscard]] int tableTop() const;
    void paintStack(QPainter &painter, int top, const QString &name, bool isMeasured) const;
    void paintLine(QPainter &painter, const Line &line, int top) const;

    RunOverlayPtr m_overlay;
    std::vector<Line> m_lines;
    QString m_referenceName, m_measuredName;
    /// of the differences, seconds
    double m_most = 0;
};

} // namespace trainyard
