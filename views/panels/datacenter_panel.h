#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Datacenter selection: the options ranked by throughput or by cost, what adding a datacenter would not help and why.
// It shows the ranking of whatever plan is shown, also while GPUs are dragged; only options of the document's plan can
// be applied. GUI thread.

#include "models/datacenter_ranking.h"
#include "models/shown.h"

#include <QWidget>

#include <vector>

class QComboBox;
class QVBoxLayout;

namespace trainyard {

class DatacenterColumns;
class DatacenterRow;
class PanelHeading;
class TextLine;

class DatacenterPanel : public QWidget {
    Q_OBJECT
public:
    explicit DatacenterPanel(QWidget *parent = nullptr);

    /// the document's
    void setShown(const Shown &shown);
    void setSelection(SelectionPtr selection);
    void setFailure(const QString &reason);
    [[nodiscard]] QComboBox *objective() const { return m_objective; }
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    /// the pointer rests on an Apply button
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    void objectiveChosen(trainyard::SelectionObjective objective);
    /// whether the panel is on the screen
    void watched(bool isWatched);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void refresh();
    void showRows(std::size_t count);
    void showSentence(const QString &text);

    PlanPtr m_plan;
    SelectionPtr m_selection;
    PanelHeading *m_heading;
    QComboBox *m_objective;
    DatacenterColumns *m_header;
    QWidget *m_legend;
    TextLine *m_sentence, *m_remarks;
    QVBoxLayout *m_list;
    std::vector<DatacenterRow *> m_rows;
};

} // namespace trainyard
