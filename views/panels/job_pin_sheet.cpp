// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_pin_sheet.h"

#include "models/text/format.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kMostButtons = 256, kInARow = 8;
constexpr int kPinSheetWidth = 420, kMostHeight = 260;

} // namespace

JobPinSheet::JobPinSheet(const Plan &plan, const QString &name, const std::vector<int> &pinned, QWidget *window)
    : JobSheet(tr("Pin %1").arg(name), tr("Pin"), kPinSheetWidth, window)
    , m_count(plan.cluster.gpus())
    , m_gpus(pinned)
    , m_field(new QLineEdit(gpuNumbersText(pinned), this))
{
    m_field->setAccessibleName(tr("GPUs"));
    m_field->setPlaceholderText(tr("any GPU"));
    m_field->setToolTip(tr("Numbers in the order of the cluster, from 0: “0–3, 8”. Empty: any GPU."));
    m_field->setClearButtonEnabled(true);
    auto *what = new TextLine(tr("GPUs that alone may run it"), Ink::Muted, this);
    body().addWidget(what);
    body().addWidget(m_field);
    if (m_count <= kMostButtons)
        body().addWidget(nodes(nodesOf(plan)));
    connect(m_field, &QLineEdit::textChanged, this, &JobPinSheet::read);
    read();
}

QWidget *JobPinSheet::nodes(const std::vector<NodeGpus> &all)
{
    auto *content = new QWidget(this);
    auto *grid = new QGridLayout(content);
    grid->setContentsMargins(0, 0, 4, 0);
    grid->setSpacing(4);
    int line = 0;
    for (const NodeGpus &node : all) {
        auto *place = new TextLine(node.place, Ink::Text, content);
        grid->addWidget(place, line, 0);
        for (int i = 0; i < node.count; ++i) {
            auto *button = new QToolButton(content);
            button->setCheckable(true);
            button->setText(QString::number(node.first + i));
            button->setMinimumWidth(30);
            button->setAccessibleName(tr("GPU %1, %2").arg(node.first + i).arg(node.place));
            connect(button, &QToolButton::clicked, this, &JobPinSheet::press);
            if (i > 0 && i % kInARow == 0)
                ++line;
            grid->addWidget(button, line, 1 + i % kInARow);
            m_buttons.push_back(button);
        }
        ++line;
    }
    grid->setColumnStretch(0, 1);
    grid->setRowStretch(line, 1);
    auto *area = new QScrollArea(this);
    area->setWidget(content);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus);
    area->setFixedHeight(std::min(kMostHeight, content->sizeHint().height() + 4));
    return area;
}

void JobPinSheet::openBeside(const QWidget *anchor)
{
    open(anchor, m_field);
    m_field->selectAll();
}

void JobPinSheet::read()
{
    const auto gpus = gpuNumbers(m_field->text(), m_count);
    if (!gpus) {
        setFault(tr("GPUs: numbers from 0 to %1 are wanted, such as “0–3, 8”.").arg(std::max(0, m_count - 1)));
        return;
    }
    m_gpus = *gpus;
    for (std::size_t i = 0; i < m_buttons.size(); ++i)
        m_buttons[i]->setChecked(std::ranges::binary_search(m_gpus, int(i)));
    doneButton()->setText(m_gpus.empty() ? tr("Run on any GPU") : tr("Pin to %1").arg(gpusText(qint64(m_gpus.size()))));
    setFault({}, tr("A pinned job waits for these GPUs; others may use them as well."));
}

void JobPinSheet::press()
{
    std::vector<int> gpus;
    for (std::size_t i = 0; i < m_buttons.size(); ++i)
        if (m_buttons[i]->isChecked())
            gpus.push_back(int(i));
    m_field->setText(gpuNumbersText(gpus));
}

} // namespace trainyard
