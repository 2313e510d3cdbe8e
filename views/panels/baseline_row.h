#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One way of sharing in a comparison: what it is called, how fast, how full and how dear it is, and a button that makes
// it the plan. A click, Enter or Space opens what each set of GPUs gets under it. GUI thread.
//
//   Whale                                        [Use this plan]
//   11.3 s    +4.0 %    5.66 /s     18.1 / 24 GB    $0.22

#include "core/evaluation/advice/sharing_results.h"

#include <QWidget>

namespace trainyard {

class HoverButton;
class SetBars;
class TextLine;

class BaselineRow : public QWidget {
    Q_OBJECT
public:
    explicit BaselineRow(QWidget *parent = nullptr);

    /// `now`: seconds of the plan's iteration, for the difference; 0: unknown.
    void setResult(const SharingResult &result, double now);
    void setApplicable(bool isApplicable);
    void setOpen(bool isOpen);
    [[nodiscard]] bool isOpen() const;
    [[nodiscard]] const SharingResult &result() const { return m_result; }
    [[nodiscard]] HoverButton *useButton() const { return m_use; }
    [[nodiscard]] SetBars *bars() const { return m_bars; }
    /// as shown: time, change, rate, memory, price
    [[nodiscard]] QStringList figures() const;

Q_SIGNALS:
    void opened();
    void used(trainyard::PlanPtr next, QString text);
    void previewed(trainyard::PlanPtr next, QString text);
    void previewEnded();

protected:
    bool event(QEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void showFigures(double now);

    SharingResult m_result;
    TextLine *m_name, *m_now, *m_why;
    TextLine *m_time, *m_change, *m_rate, *m_memory, *m_price;
    QWidget *m_figures;
    HoverButton *m_use;
    SetBars *m_bars;
};

} // namespace trainyard
