// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/editors/datacenter_editor.h"

#include "core/facts/catalogue/catalogue.h"
#include "models/text/plain_id.h"
#include "models/text/source_words.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>

namespace trainyard {

DatacenterEditor::DatacenterEditor(Datacenter datacenter, bool isNew, QWidget *parent)
    : FormPopover(isNew ? QStringLiteral("Add datacenter")
                        : QStringLiteral("Edit %1").arg(QString::fromStdString(datacenter.label())),
        parent)
    , m_before(std::move(datacenter))
    , m_isNew(isNew)
    , m_region(new QComboBox(this))
    , m_name(new QLineEdit(QString::fromStdString(m_before.label()), this))
    , m_placed(new QCheckBox(QStringLiteral("Place on the map by coordinates"), this))
{
    m_region->addItem(QStringLiteral("cloud region…"));
    for (const Region &region : builtinCatalogue().regions)
        m_region->addItem(QString::fromStdString(region.name));
    m_region->setAccessibleName(QStringLiteral("Region of the catalogue"));
    m_name->setAccessibleName(QStringLiteral("Name"));
    form().addRow(QStringLiteral("Preset"), m_region);
    form().addRow(QStringLiteral("Name"), m_name);
    form().addRow(QString(), m_placed);
    m_latitude = addNumber(&Datacenter::latitude, m_before);
    m_longitude = addNumber(&Datacenter::longitude, m_before);
    m_fabric = addNumber(&Datacenter::fabricGbpsPerGpu, m_before);
    m_measured = addNumber(&Datacenter::fabricMeasuredGBps, m_before);
    m_usdPerKwh = addNumber(&Datacenter::usdPerKwh, m_before);
    m_kgCo2PerKwh = addNumber(&Datacenter::kgCo2PerKwh, m_before);
    m_placed->setChecked(m_before.latitude && m_before.longitude);
    connect(m_region, &QComboBox::activated, this, &DatacenterEditor::useRegion);
    connect(m_name, &QLineEdit::textChanged, this, &DatacenterEditor::check);
    connect(m_placed, &QCheckBox::toggled, this, &DatacenterEditor::check);
    for (QDoubleSpinBox *box : { m_latitude, m_longitude, m_fabric, m_measured, m_usdPerKwh, m_kgCo2PerKwh })
        connect(box, &QDoubleSpinBox::valueChanged, this, &DatacenterEditor::check);
    startAt(m_name);
    if (m_isNew)
        setDoneText(tr("Add"));
    check();
}

Datacenter DatacenterEditor::datacenter() const
{
    Datacenter next = m_before;
    if (m_name->text() != QString::fromStdString(m_before.label()))
        next.name = m_name->text().trimmed().toStdString();
    if (m_isNew)
        next.id = plainId(m_name->text(), "datacenter");
    else if (next.name == next.id && m_before.name.empty())
        next.name.clear(); // the id served as the name, and still does
    if (m_placed->isChecked()) {
        next.latitude = number(*m_latitude);
        next.longitude = number(*m_longitude);
    } else if (m_before.latitude && m_before.longitude) {
        next.latitude.reset();
        next.longitude.reset();
    }
    next.fabricGbpsPerGpu = optional(*m_fabric);
    next.fabricMeasuredGBps = optional(*m_measured);
    next.usdPerKwh = optional(*m_usdPerKwh);
    next.kgCo2PerKwh = optional(*m_kgCo2PerKwh);
    return next;
}

void DatacenterEditor::useRegion(int index)
{
    const auto &regions = builtinCatalogue().regions;
    if (index < 1 || index > int(regions.size()))
        return;
    const Region &region = regions[std::size_t(index - 1)];
    if (m_isNew || m_name->text().trimmed().isEmpty())
        m_name->setText(QString::fromStdString(region.name));
    m_placed->setChecked(true);
    m_latitude->setValue(region.latitude);
    m_longitude->setValue(region.longitude);
    // The catalogue's zero says that no figure is published: the field stays empty, so that nothing is reckoned as
    // free.
    const auto published = [](double figure) { return figure > 0 ? std::optional(figure) : std::nullopt; };
    setNumber(*m_usdPerKwh, published(region.usdPerKwh));
    setNumber(*m_kgCo2PerKwh, published(region.kgCo2PerKwh));
    m_note = sourceInWords(region.source);
    check();
}

void DatacenterEditor::check()
{
    m_latitude->setEnabled(m_placed->isChecked());
    m_longitude->setEnabled(m_placed->isChecked());
    if (m_name->text().trimmed().isEmpty())
        setFault(QStringLiteral("The datacenter needs a name."));
    else
        setNote(m_note);
}

} // namespace trainyard
