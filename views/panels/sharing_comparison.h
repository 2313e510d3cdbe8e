#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What other systems would make of the same GPUs, a row each, as soon as someone asks for it, and from then on for
// every plan; each can be made the plan. GUI thread.

#include "models/baseline_comparison.h"
#include "models/shown.h"

#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace trainyard {

class BaselineRow;
class HoverButton;
class SectionTitle;
class TextLine;

class SharingComparison : public QWidget {
    Q_OBJECT
public:
    explicit SharingComparison(QWidget *parent = nullptr);

    /// the document's
    /// The base of what is shown: its iteration is what others are compared with.
    void setShown(const Shown &shown);
    void setTable(BaselineTablePtr table);
    /// as the button does
    void compare();
    [[nodiscard]] bool isComparing() const { return m_isComparing; }
    [[nodiscard]] HoverButton *compareButton() const { return m_compare; }
    [[nodiscard]] const std::vector<BaselineRow *> &rows() const { return m_rows; }
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    /// someone has asked and can see it
    void watched(bool isWatched);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void refresh();
    void open(int index);
    [[nodiscard]] int fastest() const;

    PlanPtr m_plan;
    BaselineTablePtr m_table;
    /// seconds of the plan's iteration
    double m_now = 0;
    bool m_isComparing = false;
    /// -1: the fastest
    int m_open = -1;
    HoverButton *m_compare;
    TextLine *m_note;
    QWidget *m_header;
    QVBoxLayout *m_list;
    std::vector<BaselineRow *> m_rows;
};

} // namespace trainyard
