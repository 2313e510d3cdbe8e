#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits one datacenter: name, place on the map, fabric, energy. A region of the catalogue fills the figures in, with
// its source. GUI thread.

#include "core/facts/plan/plan.h"
#include "views/cluster/editors/form_popover.h"

class QCheckBox;
class QComboBox;
class QLineEdit;

namespace trainyard {

class DatacenterEditor : public FormPopover {
    Q_OBJECT

public:
    /// `isNew` makes an id from the name; otherwise the id stays, because links and placements refer to it.
    DatacenterEditor(Datacenter datacenter, bool isNew, QWidget *parent);
    [[nodiscard]] Datacenter datacenter() const;

private:
    void useRegion(int index);
    void check();

    Datacenter m_before;
    /// where a preset's figures come from
    QString m_note;
    bool m_isNew;
    QComboBox *m_region;
    QLineEdit *m_name;
    QCheckBox *m_placed;
    QDoubleSpinBox *m_latitude, *m_longitude, *m_fabric, *m_measured, *m_usdPerKwh, *m_kgCo2PerKwh;
};

} // namespace trainyard
