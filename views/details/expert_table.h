#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Experts on the selected GPUs, and who sends to them: two tables below the title of the details panel. A click on an
// expert asks for its lines on the map, one on a sender for that node. Hidden where nothing is to be told. GUI thread.

#include "views/details/expert_details.h"

#include <QWidget>

namespace trainyard {

class EvidenceTable;
class SectionTitle;
class TextTableModel;

class ExpertTable : public QWidget {
    Q_OBJECT
public:
    explicit ExpertTable(QWidget *parent = nullptr);

    void setContent(ExpertsHere here);
    /// The row of that expert, if it is here; -1: none.
    void setChosen(int expert);
    [[nodiscard]] const ExpertsHere &content() const { return m_here; }
    [[nodiscard]] EvidenceTable *experts() const { return m_experts; }
    [[nodiscard]] EvidenceTable *senders() const { return m_senders; }

signals:
    void expertRequested(int expert);
    void placeRequested(trainyard::MapItem item);

private:
    ExpertsHere m_here;
    TextTableModel *m_expertModel, *m_senderModel;
    EvidenceTable *m_experts, *m_senders;
};

} // namespace trainyard
