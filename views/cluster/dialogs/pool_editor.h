#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits one pool of equal nodes: which GPU of the catalogue, how many, at what price. GUI thread.

#include "core/plan/plan.h"
#include "views/cluster/dialogs/form_dialog.h"

class QComboBox;

namespace trainyard {

class PoolEditor : public FormDialog {
    Q_OBJECT

public:
    PoolEditor(const QString &title, Pool pool, QWidget *parent);
    [[nodiscard]] Pool pool() const;

private:
    void check();
    [[nodiscard]] int chosen() const;      // entry of the list; -1 where the text is none

    Pool m_before;
    QComboBox *m_gpu;
    QSpinBox *m_nodes, *m_gpusPerNode;
    QDoubleSpinBox *m_price;
};

} // namespace trainyard
