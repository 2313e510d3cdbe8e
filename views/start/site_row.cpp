// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/start/site_row.h"

#include "models/text/format.h"
#include "views/parts/text_line.h"
#include "views/start/choice_field.h"
#include "views/start/start_fields.h"

#include <QHBoxLayout>
#include <QSpinBox>
#include <QToolButton>

namespace trainyard {

namespace {

std::vector<Choice> regionChoices(const Catalogue &catalogue)
{
    std::vector<Choice> choices;
    for (const Region &region : catalogue.regions)
        choices.push_back({ QString::fromStdString(region.id), QString::fromStdString(region.name),
            QString::fromStdString(region.id) });
    return choices;
}

std::vector<Choice> gpuChoices(const Catalogue &catalogue)
{
    std::vector<Choice> choices;
    for (const GpuSpec *gpu : newestGpus(catalogue))
        choices.push_back({ QString::fromStdString(gpu->id), QString::fromStdString(gpu->name),
            QString::fromStdString(gpu->architecture) });
    return choices;
}

} // namespace

SiteRow::SiteRow(const Catalogue &catalogue, const NewSite &site, QWidget *parent)
    : QWidget(parent)
    , m_catalogue(catalogue)
    , m_site(site)
    , m_region(new ChoiceField(regionChoices(catalogue), this))
    , m_gpu(new ChoiceField(gpuChoices(catalogue), this))
    , m_nodes(countBox(1, 1'000'000, this))
    , m_perNode(countBox(1, 1024, this))
    , m_count(new TextLine({}, Ink::Muted, this))
    , m_remove(new QToolButton(this))
{
    m_region->setFreeText(tr("Own site “%1”"));
    m_region->setPlaceholderText(tr("Region, or a name of your own"));
    m_region->setCurrent(QString::fromStdString(site.region), site.name);
    m_gpu->setCurrent(QString::fromStdString(site.gpu));
    m_nodes->setValue(site.nodes);
    m_perNode->setValue(site.gpusPerNode);
    m_nodes->setFixedWidth(kCountWidth);
    m_perNode->setFixedWidth(kCountWidth);
    m_count->setFixedWidth(m_count->fontMetrics().horizontalAdvance(QStringLiteral("= 100,000 GPUs")));
    m_remove->setText(QStringLiteral("×"));
    m_remove->setToolTip(tr("Leave this region out"));
    m_remove->setProperty("isFlat", true);
    auto *times = new TextLine(QStringLiteral("×"), Ink::Muted, this);
    times->setFixedWidth(times->fontMetrics().horizontalAdvance(times->text()) + 2);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(Theme::kGap);
    row->addWidget(m_region, 3);
    row->addWidget(m_gpu, 3);
    row->addWidget(m_nodes);
    row->addWidget(times);
    row->addWidget(m_perNode);
    row->addWidget(m_count);
    row->addWidget(m_remove);
    wire();
    showCount();
    setNumber(1);
}

void SiteRow::wire()
{
    connect(m_region, &ChoiceField::chosen, this, [this](const QString &id, const QString &text) {
        m_site.region = id.toStdString();
        m_site.name = text;
        emit changed();
    });
    connect(m_gpu, &ChoiceField::chosen, this, [this](const QString &id, const QString &) {
        m_site.gpu = id.toStdString();
        if (const GpuSpec *gpu = m_catalogue.gpu(m_site.gpu))
            m_perNode->setValue(usualGpusPerNode(*gpu));
        emit changed();
    });
    connect(m_nodes, &QSpinBox::valueChanged, this, [this](int nodes) {
        m_site.nodes = nodes;
        showCount();
        emit changed();
    });
    connect(m_perNode, &QSpinBox::valueChanged, this, [this](int gpus) {
        m_site.gpusPerNode = gpus;
        showCount();
        emit changed();
    });
    connect(m_remove, &QToolButton::clicked, this, &SiteRow::removed);
}

void SiteRow::showCount()
{
    const int gpus = m_site.nodes * m_site.gpusPerNode;
    m_count->setText(QStringLiteral("= ") + gpusText(gpus));
}

void SiteRow::setRemovable(bool removable)
{
    m_remove->setEnabled(removable);
}

void SiteRow::setNumber(int number)
{
    m_region->setAccessibleName(tr("Region %1").arg(number));
    m_gpu->setAccessibleName(tr("GPU type of region %1").arg(number));
    m_nodes->setAccessibleName(tr("Nodes of region %1").arg(number));
    m_perNode->setAccessibleName(tr("GPUs per node of region %1").arg(number));
    m_remove->setAccessibleName(tr("Leave region %1 out").arg(number));
}

QList<QWidget *> SiteRow::fields() const
{
    return { m_region, m_gpu, m_nodes, m_perNode, m_remove };
}

} // namespace trainyard
