#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One option of the datacenter selection in two lines: where its stages sit, how fast and how dear it is, what it waits for,
// whether it is on the Pareto front, and a button that applies it. GUI thread.
//
//   ● Virginia ×3 → Ohio ×3 → Oregon ×3                     55.3 seq/s   +4.2 %  [Apply]
//     16 × 1 replicas · egress $0.04 · compute-bound     $2.03/Mtok

#include "core/selection/selection.h"

#include <QWidget>

namespace trainyard {

class FrontMark;
class HoverButton;
class TextLine;

class DatacenterRow : public QWidget {
    Q_OBJECT
public:
    explicit DatacenterRow(QWidget *parent = nullptr);
    /// `current`: the plan as it is now, for the difference; null where it cannot be placed.
    void setOption(const SelectionOption &option, const Selection &selection, const SelectionOption *current);
    void setApplicable(bool applicable);   // false: the option is of a plan that is only tried out
    [[nodiscard]] const SelectionOption &option() const { return m_option; }
    [[nodiscard]] HoverButton *applyButton() const { return m_apply; }
    [[nodiscard]] TextLine *nameLine() const { return m_name; }
    [[nodiscard]] TextLine *detailLine() const { return m_detail; }
    [[nodiscard]] TextLine *rateLine() const { return m_rate; }
    [[nodiscard]] TextLine *costLine() const { return m_cost; }
    [[nodiscard]] TextLine *changeLine() const { return m_change; }

Q_SIGNALS:
    void applied(trainyard::PlanPtr next, QString text);
    void previewed(trainyard::PlanPtr next, QString text);
    void previewEnded();

private:
    SelectionOption m_option;
    FrontMark *m_mark;
    TextLine *m_name, *m_detail, *m_rate, *m_cost, *m_change, *m_now;
    HoverButton *m_apply;
};

/// A full circle: on the front. An empty one: another option is both faster and cheaper. GUI thread.
class FrontMark : public QWidget {
    Q_OBJECT
public:
    explicit FrontMark(QWidget *parent = nullptr);
    void setOnFront(bool onFront);
    [[nodiscard]] bool isOnFront() const { return m_onFront; }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    bool m_onFront = false;
};

} // namespace trainyard
