#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each set of GPUs gets of the work and of the states, a row a set, and how long it waits. Bars moved by hand
// become pinned shares of the plan: tried while they are held, one step to undo when let go. Below, what others would
// make of the same GPUs. It shows whatever plan the window shows, also while GPUs are dragged. GUI thread.

#include "models/shown.h"
#include "views/panels/gpu_share_row.h"

#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace trainyard {

class HoverButton;
class PanelHeading;
class SharingComparison;
class TextLine;

class GpuSharesPanel : public QWidget {
    Q_OBJECT
public:
    explicit GpuSharesPanel(QWidget *parent = nullptr);

    /// the document's: what pins are made in
    void setShown(const Shown &shown);
    void setStale(bool isStale);
    [[nodiscard]] const std::vector<GpuShareRow *> &rows() const { return m_rows; } // hidden ones at the end
    [[nodiscard]] TextLine *sentenceLine() const { return m_sentence; }
    [[nodiscard]] HoverButton *balanceButton() const { return m_balance; }
    [[nodiscard]] HoverButton *unpinAllButton() const { return m_unpinAll; }
    [[nodiscard]] SharingComparison *comparison() const { return m_comparison; }
    [[nodiscard]] QString toTsv() const;
    /// All shares that are pinned are the plan's to choose again.
    void unpinAll();

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    /// One press of an arrow key; presses with the same key are one step to undo.
    void editNudged(trainyard::PlanPtr next, QString text, QString mergeKey);

private:
    void refresh();
    void showSentence();
    [[nodiscard]] GpuShareRow *rowAt(std::size_t index);
    [[nodiscard]] bool isHeld() const;
    [[nodiscard]] ShareScale scaleOf() const;
    [[nodiscard]] double freeStates(const GpuShare &of) const;
    void pin(const GpuShareRow &row, const SharePin &pin, const QString &text, GpuShareRow::Gesture gesture);
    void pinWork(const GpuShareRow &row, int samples, GpuShareRow::Gesture gesture);
    void pinStates(const GpuShareRow &row, double share, GpuShareRow::Gesture gesture);
    void unpin(const GpuShareRow &row, bool ofWork, bool ofStates);

    PlanPtr m_plan;
    EvaluationPtr m_evaluation;
    GpuShares m_shares;
    ShareScale m_scale;
    bool m_isStale = false;
    PanelHeading *m_heading;
    TextLine *m_sentence, *m_more;
    HoverButton *m_balance, *m_unpinAll;
    QVBoxLayout *m_list;
    SharingComparison *m_comparison;
    std::vector<GpuShareRow *> m_rows;
};

} // namespace trainyard
