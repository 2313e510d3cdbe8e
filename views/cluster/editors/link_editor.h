#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits one WAN link: a field for each of its keys, as core/facts/plan/keys/cluster_keys.h tells of them. A new
// link starts from the catalogue's measured round trip of the nearest regions. GUI thread.

#include "core/facts/plan/plan.h"
#include "models/link_suggestion.h"
#include "views/cluster/editors/form_popover.h"

#include <map>

class QCheckBox;
class QComboBox;

namespace trainyard {

class LinkEditor : public FormPopover {
    Q_OBJECT

public:
    /// `note`: where suggested figures come from; may be empty.
    LinkEditor(
        const QString &title, WanLink link, const std::array<QString, 2> &names, const QString &note, QWidget *parent);
    /// A new link, whose ends are chosen here too; refused where the two are linked already.
    LinkEditor(Cluster cluster, int from, int to, QWidget *parent);
    [[nodiscard]] WanLink link() const;

private:
    /// of the fields, key by key
    struct Adder;
    /// of what they say
    struct Taker;
    void addFields(const std::array<QString, 2> &names);
    void addCloud(const Key &key);
    void addPrices(const Key &key, const std::array<QString, 2> &names);
    [[nodiscard]] QDoubleSpinBox &field(double WanLink::*member) const
    {
        return *m_numbers.at(keys::keyOf(member).name);
    }
    void suggest();
    void nameDirection(std::size_t direction, const std::array<QString, 2> &names);
    [[nodiscard]] std::array<QString, 2> endNames() const;
    void check();

    /// whose link is new
    std::optional<Cluster> m_cluster;
    std::array<QComboBox *, 2> m_ends {};
    WanLink m_before;
    QString m_note;
    /// by the names of their keys
    std::map<std::string, QDoubleSpinBox *> m_numbers;
    QComboBox *m_cloud;
    QCheckBox *m_priced;
    std::array<QDoubleSpinBox *, 2> m_prices;
};

} // namespace trainyard
