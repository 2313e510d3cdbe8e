#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The planner: what to look for at the left, candidates as they come in the middle, with the best of them and what was
// left out below, the chosen one at the right. Trying and adopting are the window's. GUI thread.

#include "models/plan_search.h"

#include <QTimer>
#include <QWidget>

class QProgressBar;
class QPushButton;
class QStackedLayout;
class QToolButton;

namespace trainyard {

class CandidateCard;
class EvidenceTable;
class PlannerForm;
class ScatterLegend;
class SearchScatter;
class TabbedCard;
class TextLine;
class TextTableModel;

class PlannerPage : public QWidget {
    Q_OBJECT
public:
    explicit PlannerPage(PlanSearch &search, QWidget *parent = nullptr);

    /// run: Start, Stop, Search again
    QPushButton *const back, *const exportCsv, *const run, *const invite;
    QToolButton *const picture;
    PlannerForm *const form;
    SearchScatter *const scatter;
    ScatterLegend *const legend;
    EvidenceTable *const best, *const leftOut;
    CandidateCard *const candidate;
    QProgressBar *const bar;

    void setPlanName(const QString &name) { m_name = name; }
    [[nodiscard]] QString resultLine() const;
    [[nodiscard]] QString progressLine() const;
    [[nodiscard]] QString noteLine() const;
    /// What waits for the next frame is shown now.
    void refreshNow();
    /// With the form: another plan may have other datacenters and worlds.
    void refreshAll();

Q_SIGNALS:
    void closed();
    void tryRequested(trainyard::PlanPtr plan, QString text);
    void editCommitted(trainyard::PlanPtr next, QString text);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void arrange();
    [[nodiscard]] QWidget *makeForm();
    [[nodiscard]] QWidget *makePlot();
    [[nodiscard]] QWidget *makeTables();
    void wire();
    void choose(int row);
    /// by a person
    void chooseOnPurpose(int row);
    void markBest(int row);
    void tryRow(int row);
    void adoptRow(int row);
    /// what undo calls it
    [[nodiscard]] QString textOf(const Plan &plan) const;
    /// A frame shows only what more rows may have changed.
    void showRows(bool isFrame);
    void showTables(bool isFrame);
    void showProgress();
    void showState();
    void runOrStop();
    void saveCsv();

    PlanSearch &m_search;
    QString m_name;
    TextLine *m_title, *m_progress, *m_result, *m_note, *m_invitation;
    QWidget *m_body;
    QWidget *m_empty = nullptr, *m_plot = nullptr;
    QStackedLayout *m_middle = nullptr;
    TabbedCard *m_tables = nullptr;
    TextTableModel *m_bestModel, *m_leftOutModel;
    /// rows are shown as often as the eye sees, however often they come
    QTimer m_frame;
    std::vector<std::size_t> m_shownBest;
    /// the rows are those of another search
    bool m_isAnew = true;
    bool m_isMarking = false;
    /// by a person: the number of a candidate
    std::optional<std::uint64_t> m_chosen;
};

} // namespace trainyard
