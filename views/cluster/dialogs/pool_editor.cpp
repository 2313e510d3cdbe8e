// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/cluster/dialogs/pool_editor.h"

#include "core/catalogue/catalogue.h"
#include "models/text/format.h"

#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QSpinBox>

namespace trainyard {

PoolEditor::PoolEditor(const QString &title, Pool pool, QWidget *parent)
    : FormDialog(title, parent)
    , m_before(std::move(pool))
    , m_gpu(new QComboBox(this))
{
    if (m_before.inlineGpu)
        m_gpu->addItem(QString::fromStdString(m_before.inlineGpu->name.empty() ? "as in the plan file" : m_before.inlineGpu->name), QString());
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
    m_nodes = addCount(QStringLiteral("Nodes"), m_before.nodes, 1, 1000000);
    m_gpusPerNode = addCount(QStringLiteral("GPUs per node"), m_before.gpusPerNode, 1, 1024);
    m_price = addOptional(QStringLiteral("Price"), m_before.usdPerGpuHour, 10000, 3, QStringLiteral(" $ per GPU hour"), QStringLiteral("as the GPU's catalogue entry"));
    connect(m_gpu, &QComboBox::currentTextChanged, this, &PoolEditor::check);
    connect(m_nodes, &QSpinBox::valueChanged, this, &PoolEditor::check);
    connect(m_gpusPerNode, &QSpinBox::valueChanged, this, &PoolEditor::check);
    check();
}

int PoolEditor::chosen() const
{
    const int index = m_gpu->currentIndex();   // two entries may have one name
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
    return next;
}

void PoolEditor::check()
{
    if (chosen() < 0) {
        setFault(QStringLiteral("No GPU of the catalogue is called “%1”.").arg(m_gpu->currentText()));
        return;
    }
    const GpuSpec *gpu = builtinCatalogue().gpu(pool().gpu);
    QString note = QStringLiteral("%1 GPUs").arg(m_nodes->value() * m_gpusPerNode->value());
    if (gpu && !pool().inlineGpu)
        note += QStringLiteral(", %1 each").arg(formatBytes(double(gpu->memoryBytes)));
    setNote(note);
}

} // namespace trainyard
