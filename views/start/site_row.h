#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One site of a new plan in a line: where, which GPUs, nodes × GPUs per node, and how many that makes. GUI thread.

#include "models/new_plan.h"

#include <QWidget>

class QSpinBox;
class QToolButton;

namespace trainyard {

class ChoiceField;
class TextLine;

class SiteRow : public QWidget {
    Q_OBJECT
public:
    SiteRow(const Catalogue &catalogue, const NewSite &site, QWidget *parent = nullptr);

    [[nodiscard]] const NewSite &site() const { return m_site; }
    void setRemovable(bool removable);
    /// of the row, for screen readers
    void setNumber(int number);
    [[nodiscard]] ChoiceField *region() const { return m_region; }
    /// in the order of Tab
    [[nodiscard]] QList<QWidget *> fields() const;

signals:
    void changed();
    void removed();

private:
    void wire();
    void showCount();

    const Catalogue &m_catalogue;
    NewSite m_site;
    ChoiceField *m_region, *m_gpu;
    QSpinBox *m_nodes, *m_perNode;
    TextLine *m_count;
    QToolButton *m_remove;
};

} // namespace trainyard
