// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/fact_table.h"

#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace trainyard {

FactTable::FactTable(QWidget *parent)
    : QWidget(parent)
    , m_list(new QVBoxLayout(this))
{
    m_list->setContentsMargins(0, 0, 0, 0);
    m_list->setSpacing(2);
}

void FactTable::setLines(const std::vector<OffloadLine> &lines)
{
    while (m_rows.size() < lines.size()) {
        auto *widget = new QWidget(this);
        auto *layout = new QHBoxLayout(widget);
        layout->setContentsMargins(6, 0, 2, 0);
        layout->setSpacing(Theme::kGap);
        const Row row { widget, new TextLine({}, Ink::Muted, widget), new TextLine({}, Ink::Text, widget) };
        row.value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        layout->addWidget(row.name, 1);
        layout->addWidget(row.value);
        m_list->addWidget(widget);
        m_rows.push_back(row);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i].widget->setVisible(i < lines.size());
        if (i >= lines.size())
            continue;
        m_rows[i].name->setText(lines[i].name);
        m_rows[i].value->setText(lines[i].value);
        m_rows[i].widget->setToolTip(lines[i].explanation);
        m_rows[i].widget->setAccessibleName(QStringLiteral("%1 %2").arg(lines[i].name, lines[i].value));
    }
}

} // namespace trainyard
