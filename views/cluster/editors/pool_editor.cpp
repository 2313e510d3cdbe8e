// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/editors/pool_editor.h"

#include "core/facts/catalogue/catalogue.h"
#include "models/text/format.h"
#include "views/cluster/editors/usual_drives.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QSpinBox>

namespace trainyard {

namespace {

const Host kFirstHost { 1024, 0, {} };

} // namespace

PoolEditor::PoolEditor(const QString &title, Pool pool, QWidget *parent)
    : FormPopover(title, parent)
    , m_before(std::move(pool))
    , m_gpu(new QComboBox(this))
{
    if (m_before.inlineGpu)
        m_gpu->addItem(
            QString::fromStdString(m_before.inlineGpu->name.empty() ? "as in the plan file" : m_before.inlineGpu->name),
            QString());
    else if (!m_before.gpu.empty() && !builtinCatalogue().gpu(m_before.gpu))
        m_gpu->addItem(QString::fromStdString(m_before.gpu), QString::fromStdString(m_before.gpu));
    for (const GpuSpec &gpu : builtinCatalogue().gpus)
        m_gpu->addItem(QString::fromStdString(gpu.name), QString::fromStdString(gpu.id));
    m_gpu->setAccessibleName(QStringLiteral("GPU type"));
    m_gpu->setEditable(true);
    m_gpu->setInsertPolicy(QComboBox::NoInsert);
    m_gpu->completer()->setFilterMode(Qt::MatchContains);
    m_gpu->completer()->setCompletionMode(QCompleter::PopupCompletion);
    const int known = m_before.inlineGpu ? 0 : m_gpu->findData(QString::fromStdString(m_before.gpu));
    m_gpu->setCurrentIndex(std::max(0, known));
    form().addRow(QStringLiteral("GPU"), m_gpu);
    m_nodes = addCount(&Pool::nodes, m_before);
    m_nodes->setMinimum(1); // a pool without nodes is removed instead
    m_gpusPerNode = addCount(&Pool::gpusPerNode, m_before);
    m_price = addNumber(&Pool::usdPerGpuHour, m_before);
    addDrives();
    addHost();
    connect(m_gpu, &QComboBox::currentTextChanged, this, &PoolEditor::check);
    connect(m_nodes, &QSpinBox::valueChanged, this, &PoolEditor::check);
    for (QSpinBox *box : { m_gpusPerNode, m_sharing })
        connect(box, &QSpinBox::valueChanged, this, &PoolEditor::check);
    for (QDoubleSpinBox *box : { m_write, m_read })
        connect(box, &QDoubleSpinBox::valueChanged, this, &PoolEditor::check);
    connect(m_hasDrives, &QCheckBox::toggled, this, &PoolEditor::check);
    connect(m_hasHost, &QCheckBox::toggled, this, &PoolEditor::check);
    startAt(m_nodes);
    check();
}

int PoolEditor::chosen() const
{
    const int index = m_gpu->currentIndex(); // two entries may have one name
    return index >= 0 && m_gpu->itemText(index) == m_gpu->currentText() ? index : m_gpu->findText(m_gpu->currentText());
}

Pool PoolEditor::pool() const
{
    Pool next = m_before;
    const std::string id = m_gpu->itemData(chosen()).toString().toStdString();
    if (!id.empty()) {
        next.gpu = id;
        next.inlineGpu.reset();
    }
    next.nodes = count(*m_nodes);
    next.gpusPerNode = count(*m_gpusPerNode);
    next.usdPerGpuHour = optional(*m_price);
    next.ssd = m_hasDrives->isChecked() ? std::optional(drives()) : std::nullopt;
    next.host = m_hasHost->isChecked() ? std::optional(host()) : std::nullopt;
    return next;
}

Ssd PoolEditor::drives() const
{
    Ssd ssd = m_before.ssd.value_or(Ssd {});
    ssd.writeGBps = number(*m_write);
    ssd.readGBps = number(*m_read);
    ssd.endurancePb = number(*m_endurance);
    ssd.usd = number(*m_drivesPrice);
    ssd.writeAmplification = number(*m_amplification);
    ssd.retentionGain = number(*m_retention);
    ssd.gpusSharing = count(*m_sharing);
    return ssd;
}

Host PoolEditor::host() const
{
    Host host = m_before.host.value_or(Host {});
    host.memoryGib = number(*m_hostMemory);
    host.gbytesPerSecondPerGpu = number(*m_hostRate);
    return host;
}

void PoolEditor::addDrives()
{
    const Ssd now = m_before.ssd.value_or(usualDrives());
    m_hasDrives = new QCheckBox(QStringLiteral("Drives for activations and optimizer states"), this);
    m_hasDrives->setChecked(m_before.ssd.has_value());
    form().addRow(m_hasDrives);
    m_write = addNumber(&Ssd::writeGBps, now);
    m_read = addNumber(&Ssd::readGBps, now);
    m_endurance = addNumber(&Ssd::endurancePb, now);
    m_drivesPrice = addNumber(&Ssd::usd, now);
    m_amplification = addNumber(&Ssd::writeAmplification, now);
    m_retention = addNumber(&Ssd::retentionGain, now);
    m_sharing = addCount(&Ssd::gpusSharing, now);
    if (!m_before.ssd)
        for (QWidget *box : std::initializer_list<QWidget *> { m_write, m_read, m_endurance, m_drivesPrice })
            box->setToolTip((box->toolTip() + u'\n' + QLatin1String(kUsualDriveSource)).trimmed());
    connect(m_hasDrives, &QCheckBox::toggled, this, &PoolEditor::showDrives);
    showDrives(m_hasDrives->isChecked());
}

void PoolEditor::showDrives(bool shown)
{
    for (QWidget *box : std::initializer_list<QWidget *> {
             m_write, m_read, m_endurance, m_drivesPrice, m_amplification, m_retention, m_sharing })
        form().setRowVisible(box, shown);
}

void PoolEditor::addHost()
{
    const Host now = m_before.host.value_or(kFirstHost);
    m_hasHost = new QCheckBox(QStringLiteral("Override host memory"), this);
    m_hasHost->setChecked(m_before.host.has_value());
    form().addRow(m_hasHost);
    m_hostMemory = addNumber(&Host::memoryGib, now);
    m_hostRate = addNumber(&Host::gbytesPerSecondPerGpu, now);
    connect(m_hasHost, &QCheckBox::toggled, this, &PoolEditor::showHost);
    showHost(m_hasHost->isChecked());
}

void PoolEditor::showHost(bool shown)
{
    form().setRowVisible(m_hostMemory, shown);
    form().setRowVisible(m_hostRate, shown);
}

QString PoolEditor::fault() const
{
    if (chosen() < 0)
        return QStringLiteral("No GPU of the catalogue is called “%1”.").arg(m_gpu->currentText());
    if (!m_hasDrives->isChecked())
        return {};
    if (!(number(*m_write) > 0) || !(number(*m_read) > 0))
        return QStringLiteral("Drives that write or read 0 GB/s cannot hold what leaves a GPU: give both rates, or "
                              "take the drives away.");
    if (m_sharing->value() > m_gpusPerNode->value())
        return QStringLiteral("%1 GPUs cannot share a PCIe switch where a node has %2.")
            .arg(m_sharing->value())
            .arg(m_gpusPerNode->value());
    return {};
}

void PoolEditor::check()
{
    if (const QString wrong = fault(); !wrong.isEmpty()) {
        setFault(wrong);
        return;
    }
    const GpuSpec *gpu = builtinCatalogue().gpu(pool().gpu);
    const int gpus = m_nodes->value() * m_gpusPerNode->value();
    QString note = gpusText(gpus);
    if (gpu && !pool().inlineGpu)
        note += QStringLiteral(", %1 each").arg(formatBytes(double(gpu->memoryBytes)));
    setNote(note);
}

} // namespace trainyard
