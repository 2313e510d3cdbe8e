#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits one pool of equal nodes: which GPU of the catalogue, how many, at what price, and where the nodes have them,
// the drives and the host memory that activations and optimizer states can wait in. GUI thread.

#include "core/facts/plan/plan.h"
#include "views/cluster/editors/form_popover.h"

class QCheckBox;
class QComboBox;

namespace trainyard {

class PoolEditor : public FormPopover {
    Q_OBJECT

public:
    PoolEditor(const QString &title, Pool pool, QWidget *parent);
    [[nodiscard]] Pool pool() const;

private:
    void addDrives();
    void addHost();
    void showDrives(bool shown);
    void showHost(bool shown);
    [[nodiscard]] Ssd drives() const;
    [[nodiscard]] Host host() const;
    void check();
    [[nodiscard]] QString fault() const;
    /// entry of the list; -1 where the text is none
    [[nodiscard]] int chosen() const;

    Pool m_before;
    QComboBox *m_gpu;
    QSpinBox *m_nodes, *m_gpusPerNode;
    QDoubleSpinBox *m_price;
    QCheckBox *m_hasDrives, *m_hasHost;
    QDoubleSpinBox *m_write, *m_read, *m_endurance, *m_drivesPrice, *m_amplification, *m_retention;
    QSpinBox *m_sharing;
    QDoubleSpinBox *m_hostMemory, *m_hostRate;
};

} // namespace trainyard
