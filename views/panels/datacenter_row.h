#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One option of the datacenter selection in two lines: where its stages sit, with a button that applies it; below, in
// columns under one header, how many replicas, how fast, how dear, and what it waits for. GUI thread.
//
//   ● Virginia ×3 → Ohio ×3 → Oregon ×3                      [Apply]
//      16    46.4   +4.2 %    $2.23    $0.98   in flight

#include "core/evaluation/selection/selection.h"

#include <QWidget>

namespace trainyard {

class DatacenterColumns;
class FrontMark;
class HoverButton;
class TextLine;

class DatacenterRow : public QWidget {
    Q_OBJECT
public:
    explicit DatacenterRow(QWidget *parent = nullptr);
    /// `current`: the plan as it is now, for the difference; null where it cannot be placed.
    void setOption(const SelectionOption &option, const Selection &selection, const SelectionOption *current);
    /// false: the option is of a plan that is only tried out
    void setApplicable(bool applicable);
    [[nodiscard]] const SelectionOption &option() const { return m_option; }
    [[nodiscard]] HoverButton *applyButton() const { return m_apply; }
    [[nodiscard]] TextLine *nameLine() const { return m_name; }
    [[nodiscard]] TextLine *reasonLine() const { return m_reason; } // why it cannot be chosen, instead of the columns
    [[nodiscard]] const DatacenterColumns &columns() const { return *m_columns; }

Q_SIGNALS:
    void applied(trainyard::PlanPtr next, QString text);
    void previewed(trainyard::PlanPtr next, QString text);
    void previewEnded();

protected:
    /// a hairline above: a row's two lines belong together
    void paintEvent(QPaintEvent *event) override;

private:
    SelectionOption m_option;
    FrontMark *m_mark;
    TextLine *m_name, *m_reason, *m_now;
    DatacenterColumns *m_columns;
    HoverButton *m_apply;
};

/// The second line of a row, or the header over all of them: the same columns.
class DatacenterColumns : public QWidget {
    Q_OBJECT
public:
    explicit DatacenterColumns(QWidget *parent = nullptr);
    TextLine *const replicas, *const rate, *const change, *const cost, *const egress, *const bound;
    /// of all, an Ink
    void setInk(int ink);
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
