#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One set of equal GPUs: what it computes, what it holds and how long it waits, three bars side by side, and one
// sentence why. The ends of work and of states are taken by hand or moved by keys; what is pinned says so. GUI thread.
//
//   RTX A6000  Lab · 1 GPU                               slowest
//   34 of 64 samples        25.8 % of the states         waits 0 %
//   ████████████████░░░     ███████▒▒▒▒░░░░░             ░░░░░░░░
//   Fast, with memory to spare

#include "models/gpu_shares.h"

#include <QWidget>

namespace trainyard {

class HoverButton;
class ShareBar;
class TextLine;

/// What is as long as a whole bar, the same in every row.
struct ShareScale {
    double samples = 1;
    /// 0: unknown, shares of the states are drawn
    double bytes = 0;
    double stateShare = 1;
};

class GpuShareRow : public QWidget {
    Q_OBJECT
public:
    enum class Gesture { Drag, Drop, Key, Cancel };

    explicit GpuShareRow(QWidget *parent = nullptr);
    /// `freeStates`: of the states, what no other set has pinned; each of these replicas may have its part of it.
    void setShare(const GpuShare &share, const GpuShares &all, const ShareScale &scale, double freeStates);
    void setDimmed(bool isDimmed);
    [[nodiscard]] const GpuShare &share() const { return m_share; }
    [[nodiscard]] bool isDragging() const;
    [[nodiscard]] ShareBar *workBar() const { return m_work; }
    [[nodiscard]] ShareBar *stateBar() const { return m_states; }
    [[nodiscard]] ShareBar *idleBar() const { return m_idle; }
    [[nodiscard]] HoverButton *unpinButton() const { return m_unpin; }
    [[nodiscard]] TextLine *workLine() const { return m_workText; }
    [[nodiscard]] TextLine *stateLine() const { return m_stateText; }
    [[nodiscard]] TextLine *idleLine() const { return m_idleText; }
    [[nodiscard]] TextLine *sentenceLine() const { return m_sentence; }
    [[nodiscard]] TextLine *markLine() const { return m_mark; }

Q_SIGNALS:
    /// of each replica
    void workMoved(int samples, trainyard::GpuShareRow::Gesture gesture);
    /// of each replica
    void statesMoved(double share, trainyard::GpuShareRow::Gesture gesture);
    void unpinAsked(bool ofWork, bool ofStates);

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;
    /// a hairline above
    void paintEvent(QPaintEvent *event) override;

private:
    void wire(ShareBar *bar, bool isWork);
    void showWork(int samples);
    void showStates(double share);
    void showAmounts(const ShareScale &scale, double freeStates);

    GpuShare m_share;
    int m_batch = 0, m_stages = 1, m_replicas = 1;
    bool m_isLayered = false;
    TextLine *m_name, *m_place, *m_mark, *m_workText, *m_stateText, *m_idleText, *m_sentence;
    ShareBar *m_work, *m_states, *m_idle;
    HoverButton *m_unpin;
};

} // namespace trainyard
