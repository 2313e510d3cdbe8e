// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/start/link_rows.h"

#include "views/parts/text_line.h"
#include "views/start/start_fields.h"

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kFigureWidth = 118;

} // namespace

LinkRows::LinkRows(QWidget *parent)
    : QWidget(parent)
    , m_layout(new QVBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(4);
}

LinkRows::Row LinkRows::newRow()
{
    auto *widget = new QWidget(this);
    Row row { widget, new TextLine({}, Ink::Text, widget), new TextLine({}, Ink::Muted, widget),
        figureBox(0.1, 10000, 1, tr(" ms"), widget), figureBox(0.1, 1e6, 1, tr(" Gbps"), widget) };
    auto *line = new QHBoxLayout(widget);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(Theme::kGap);
    row.source->setFont(uiFont(-1));
    row.rtt->setFixedWidth(kFigureWidth);
    row.capacity->setFixedWidth(kFigureWidth);
    row.rtt->setToolTip(tr("Round trip"));
    row.capacity->setToolTip(tr("Bandwidth per direction, of all node pairs together"));
    for (TextLine *label : { row.names, row.source })
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    line->addWidget(row.names, 3);
    line->addWidget(row.rtt);
    line->addWidget(row.capacity);
    line->addWidget(row.source, 4);
    m_layout->addWidget(widget);
    return row;
}

void LinkRows::addRow()
{
    const std::size_t index = m_rows.size();
    m_rows.push_back(newRow());
    const Row &row = m_rows.back();
    const auto typed = [this, index](bool isRtt) {
        const Row &of = m_rows[index];
        NewLinkFigures figures;
        (isRtt ? figures.rttMs : figures.capacityGbps) = (isRtt ? of.rtt : of.capacity)->value();
        emit figuresTyped(of.from, of.to, figures);
    };
    connect(row.rtt, &QDoubleSpinBox::valueChanged, this, [typed] { typed(true); });
    connect(row.capacity, &QDoubleSpinBox::valueChanged, this, [typed] { typed(false); });
}

void LinkRows::setLinks(const std::vector<NewLink> &links, const Cluster &cluster)
{
    while (m_rows.size() < links.size())
        addRow();
    m_shown = links.size();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Row &row = m_rows[i];
        row.widget->setVisible(i < links.size());
        if (i >= links.size())
            continue;
        const NewLink &link = links[i];
        row.from = link.from;
        row.to = link.to;
        const auto name = [&](int site) {
            const QString label = QString::fromStdString(cluster.datacenters[std::size_t(site)].label());
            return label.isEmpty() ? tr("Region %1").arg(site + 1) : label;
        };
        const QString names = name(link.from) + QStringLiteral(" – ") + name(link.to);
        row.names->setText(names);
        row.names->setToolTip(names);
        row.source->setText(link.source);
        row.source->setToolTip(link.source);
        row.rtt->setAccessibleName(tr("Round trip %1").arg(names));
        row.capacity->setAccessibleName(tr("Bandwidth %1").arg(names));
        const QSignalBlocker quietRtt(row.rtt), quietCapacity(row.capacity);
        if (row.rtt->value() != link.link.rttMs)
            row.rtt->setValue(link.link.rttMs);
        if (row.capacity->value() != link.link.capacityGbps)
            row.capacity->setValue(link.link.capacityGbps);
    }
}

QList<QWidget *> LinkRows::fields() const
{
    QList<QWidget *> fields;
    for (std::size_t i = 0; i < m_shown; ++i)
        fields << m_rows[i].rtt << m_rows[i].capacity;
    return fields;
}

} // namespace trainyard
