#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits one WAN link: round trip, capacity, what one pair of nodes and one TCP connection may use, loss, egress price. A new
// link starts from the catalogue's measured round trip of the nearest regions. GUI thread.

#include "core/plan/plan.h"
#include "models/link_suggestion.h"
#include "views/cluster/editors/form_popover.h"

class QCheckBox;
class QComboBox;

namespace trainyard {

class LinkEditor : public FormPopover {
    Q_OBJECT

public:
    /// `note`: where suggested figures come from; may be empty.
    LinkEditor(const QString &title, WanLink link, const std::array<QString, 2> &names, const QString &note, QWidget *parent);
    /// A new link, whose ends are chosen here too; refused where the two are linked already.
    LinkEditor(Cluster cluster, int from, int to, QWidget *parent);
    [[nodiscard]] WanLink link() const;

private:
    void addFields(const std::array<QString, 2> &names);
    void addCloud();
    void suggest();
    void nameDirection(std::size_t direction, const std::array<QString, 2> &names);
    [[nodiscard]] std::array<QString, 2> endNames() const;
    void check();

    std::optional<Cluster> m_cluster;      // whose link is new
    std::array<QComboBox *, 2> m_ends{};
    WanLink m_before;
    QString m_note;
    QDoubleSpinBox *m_rtt, *m_capacity, *m_nodePair, *m_window;
    QDoubleSpinBox *m_loss;
    QComboBox *m_cloud;
    QCheckBox *m_priced;
    std::array<QDoubleSpinBox *, 2> m_prices;
};

} // namespace trainyard
