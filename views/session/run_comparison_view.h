#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan beside a run, or two runs: two timelines under one axis, their numbers, GPU time by place and kind of work,
// kernels, and what has to be known of it. What is compared is the page's choice. GUI thread.

#include "models/session/run_comparison.h"

#include <QWidget>

namespace trainyard {

class ComparedTimeline;
class EvidenceTable;
class TabbedCard;
class TextTableModel;

class RunComparisonView : public QWidget {
    Q_OBJECT
public:
    explicit RunComparisonView(const Catalogue &catalogue, QWidget *parent = nullptr);

    ComparedTimeline *const upper, *const lower;
    EvidenceTable *const numbers, *const times, *const kernels, *const notes;
    TabbedCard *const tabs;

    void setSides(const ComparedSide &before, const ComparedSide &after);
    /// Zoom and pan move both.
    void setLocked(bool isLocked);
    [[nodiscard]] RunComparison &comparison() { return m_comparison; }
    /// the one sentence over both; empty while it is of other sides
    [[nodiscard]] QString verdict() const;
    /// it is why they are not compared
    [[nodiscard]] bool isRefused() const;

signals:
    void verdictChanged();
    /// of the one before, or of the one after; empty: the typical one
    void stepChosen(bool isAfter, std::optional<std::int64_t> number);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void wire();
    void show(const ComparedRuns &pair);
    void follow(ComparedTimeline *to, qint64 begin, qint64 end);
    void fitBoth();

    TextTableModel *m_numberRows, *m_timeRows, *m_kernelRows, *m_noteRows;
    bool m_isLocked = true, m_isFollowing = false;
    /// that the axis was last fitted to
    Nanoseconds m_fitted = -1;
    /// last: its thread uses everything above
    RunComparison m_comparison;
};

} // namespace trainyard
