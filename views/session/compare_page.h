#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Two of a meeting beside each other, variants and recorded runs alike: their timelines under one axis, what differs
// between them, their numbers, and of plans the keys in words. GUI thread.

#include "models/session/pair_comparison.h"

#include <QWidget>

#include <string>

class QCheckBox;
class QComboBox;
class QPushButton;
class QStackedWidget;

namespace trainyard {

class AllNumbers;
class EvidenceTable;
class LoadedRuns;
class MarkedMap;
class PairOverlays;
struct PairSide;
class RunComparisonView;
class SessionDocument;
class TabbedCard;
class TextLine;
class TextTableModel;
class TimelineView;

class ComparePage : public QWidget {
    Q_OBJECT
public:
    ComparePage(SessionDocument &session, LoadedRuns &runs, const Catalogue &catalogue, QWidget *parent = nullptr);

    QPushButton *const back, *const swap;
    QComboBox *const before, *const after;
    /// one axis for both, and its zoom limits what is compared
    QCheckBox *const locked, *const range;
    TimelineView *const upper, *const lower;
    EvidenceTable *const numbers, *const spans, *const words;

    /// of all variants, not of these two alone
    AllNumbers *const everyone;
    /// with marks at what moved
    MarkedMap *const upperMap, *const lowerMap;

    /// memory and curves of both over each other
    [[nodiscard]] PairOverlays &overlays() { return *m_overlays; }
    [[nodiscard]] TabbedCard &tabs() { return *m_tabs; }

    /// Variants by id, runs by keyOfRun(); empty: as they are.
    void compare(const std::string &before, const std::string &after);
    [[nodiscard]] static std::string keyOfRun(const std::string &id) { return "run/" + id; }
    /// Where one of the two is a run; null before that was first asked for.
    [[nodiscard]] RunComparisonView *runView() const { return m_runView; }
    [[nodiscard]] PairComparison &comparison() { return m_comparison; }
    /// the one sentence over both
    [[nodiscard]] QString verdict() const;

Q_SIGNALS:
    void closed();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void arrange();
    void wire();
    void fillLists();
    void ask();
    /// True: one of the two is a run, and the view of runs has it.
    [[nodiscard]] bool askForRuns();
    void showRunVerdict();
    void follow(TimelineView *from, TimelineView *to, qint64 begin, qint64 end);
    [[nodiscard]] PairSide pairSideOf(const QComboBox *box, const EvaluationPtr &evaluation) const;
    void renameSides();
    void showSides(const ComparedPair &pair);
    void show(const ComparedPair &pair);
    void showSpans(const ComparedPair &pair);
    void fitBoth();

    SessionDocument &m_session;
    LoadedRuns &m_runs;
    const Catalogue &m_catalogue;
    /// two plans, or what has a run in it
    QStackedWidget *m_bodies;
    RunComparisonView *m_runView = nullptr;
    TextLine *m_title, *m_verdict, *m_upperName, *m_lowerName;
    TextTableModel *m_numbersModel, *m_spansModel, *m_wordsModel;
    TabbedCard *m_tabs;
    PairOverlays *m_overlays = nullptr;
    bool m_isFollowing = false, m_isFilling = false;
    EvaluationPtr m_fitted;
    /// last: its thread uses everything above
    PairComparison m_comparison;
};

} // namespace trainyard
