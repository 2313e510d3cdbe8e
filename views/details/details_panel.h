#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The selected thing, docked: a span, a link, GPUs, a datacenter. It stays while the pointer wanders, follows its thing
// through edits, and lists the chain of causes of a span; a click on one, or [ and ], walks along it. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"
#include "views/cluster/map_selection.h"
#include "views/details/details.h"

#include <QWidget>

class QToolButton;
class QVBoxLayout;

namespace trainyard {

class EvidenceTable;
class FactTable;
class SectionTitle;
class TextLine;
class TextTableModel;

class DetailsPanel : public QWidget {
    Q_OBJECT
public:
    explicit DetailsPanel(QWidget *parent = nullptr);

    void setEvaluation(EvaluationPtr evaluation);
    /// kNoSpan: none
    void showSpan(std::uint32_t span);
    [[nodiscard]] std::uint32_t span() const { return m_span; }
    /// Kind::None: none
    void showItem(const MapItem &item);
    void showStage(int stage);
    /// A span of a recorded run; an empty title: none any more.
    void showMeasured(const QString &title, const QList<std::pair<QString, QString>> &facts);
    void setStale(bool isStale);
    /// A widget that belongs to the selection, such as the table of a selected area, above everything else.
    void dock(QWidget *table);
    /// The same below the title, above the facts.
    void dockBelow(QWidget *table);
    [[nodiscard]] QString title() const;
    [[nodiscard]] EvidenceTable *chain() const { return m_chain; }
    [[nodiscard]] QString toTsv() const;

signals:
    void spanRequested(quint32 span);
    void causeRequested();
    void effectRequested();

protected:
    void showEvent(QShowEvent *event) override;

private:
    void refresh();
    void fill(const Details &details);
    void listCauses(bool isSpan);

    EvaluationPtr m_evaluation;
    std::uint32_t m_span = kNoSpan;
    bool m_isOwed = false;
    MapItem m_item;
    int m_stage = -1;
    /// of a span of a run; its title is empty where none is selected
    Details m_measured;
    Details m_details;
    std::vector<CauseStep> m_causes;
    TextLine *m_title, *m_subtitle, *m_empty;
    QToolButton *m_back, *m_forth;
    FactTable *m_facts;
    SectionTitle *m_chainTitle;
    TextTableModel *m_chainModel;
    EvidenceTable *m_chain;
    QVBoxLayout *m_docked, *m_dockedBelow;
};

} // namespace trainyard
