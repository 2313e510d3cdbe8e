// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/validation/validation_header.h"

#include "models/text/foreign_text.h"
#include "models/validation/text_table_model.h"
#include "views/panels/evidence_table.h"
#include "views/parts/page_head.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kFaultRows = 5, kProgressWidth = 140;

} // namespace

ValidationHeader::ValidationHeader(QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , choose(new QPushButton(tr("Choose…"), this))
    , builtin(new QPushButton(tr("Built-in rows"), this))
    , again(new QPushButton(tr("Run again"), this))
    , stop(new QPushButton(tr("Stop"), this))
    , exportCsv(new QPushButton(tr("Export CSV…"), this))
    , file(new QLineEdit(this))
    , m_title(new TextLine(tr("Validation"), Ink::Text, this))
    , m_overview(new TextLine({}, Ink::Muted, this))
    , m_progressText(new TextLine({}, Ink::Muted, this))
    , m_faultTitle(new TextLine({}, Ink::Bad, this))
    , m_progress(new QProgressBar(this))
    , m_faultBox(new QWidget(this))
    , m_faults(new EvidenceTable(tr("Faults of the file of rows"), 1, m_faultBox))
    , m_faultModel(new TextTableModel(this))
{
    m_progressText->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_progress->setFixedWidth(kProgressWidth);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Rows evaluated"));
    file->setPlaceholderText(tr("Your own rows: path of a file, a row being a plan and what was measured for it"));
    file->setAccessibleName(tr("File of rows"));
    file->setClearButtonEnabled(true);
    builtin->setToolTip(tr("Go back to the published rows that come with the program"));
    m_faults->setModel(m_faultModel);
    arrange();
    connect(file, &QLineEdit::returnPressed, this, [this] { emit runRequested(file->text().trimmed()); });
    connect(again, &QPushButton::clicked, this, [this] { emit runRequested(file->text().trimmed()); });
    connect(builtin, &QPushButton::clicked, this, [this] {
        file->clear();
        emit runRequested({});
    });
    setRunning(false);
    setHasResult(false);
    setFaults({}, {});
}

void ValidationHeader::arrange()
{
    auto *top = pageHead(back, m_title, m_overview, {});
    auto *row = new QHBoxLayout;
    row->setSpacing(Theme::kGap);
    row->addWidget(file, 1);
    row->addWidget(choose);
    row->addWidget(builtin);
    row->addSpacing(2 * Theme::kPad);
    row->addWidget(m_progressText);
    row->addWidget(m_progress);
    row->addWidget(stop);
    row->addWidget(again);
    row->addWidget(exportCsv);
    auto *faults = new QVBoxLayout(m_faultBox);
    faults->setContentsMargins(0, 0, 0, 0);
    faults->setSpacing(4);
    faults->addWidget(m_faultTitle);
    faults->addWidget(m_faults);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(2, 0, 2, 0);
    column->setSpacing(Theme::kGap);
    column->addLayout(top);
    column->addLayout(row);
    column->addWidget(m_faultBox);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void ValidationHeader::setOverview(const QString &text)
{
    m_overview->setText(text);
    m_overview->setToolTip(text);
}

void ValidationHeader::setRunning(bool isRunning)
{
    m_progressText->setText({});
    m_progress->setRange(0, 0);
    for (QWidget *widget :
        { static_cast<QWidget *>(m_progressText), static_cast<QWidget *>(m_progress), static_cast<QWidget *>(stop) })
        widget->setVisible(isRunning);
    again->setVisible(!isRunning);
}

void ValidationHeader::setProgress(int done, int rows)
{
    if (rows <= 0)
        return;
    m_progress->setRange(0, rows);
    m_progress->setValue(done);
    m_progressText->setText(tr("%L1 of %L2 rows").arg(done).arg(rows));
}

void ValidationHeader::setHasResult(bool hasResult)
{
    exportCsv->setEnabled(hasResult);
}

void ValidationHeader::setFile(const QString &path)
{
    file->setText(path);
    builtin->setVisible(!path.isEmpty());
}

void ValidationHeader::setFaults(const QString &path, const Errors &errors)
{
    m_faultBox->setVisible(!errors.empty());
    m_faultModel->setTable(faultTable(errors));
    if (errors.empty())
        return;
    const QString name = fileText(path);
    m_faultTitle->setText(errors.size() == 1
            ? tr("“%1” cannot be used; it has a fault.").arg(name)
            : tr("“%1” cannot be used; it has %2 faults.").arg(name).arg(errors.size()));
    builtin->setVisible(true);
    const int lines = std::min(kFaultRows, int(errors.size()));
    m_faults->setFixedHeight(m_faults->horizontalHeader()->sizeHint().height()
        + lines * m_faults->verticalHeader()->defaultSectionSize() + 4);
}

} // namespace trainyard
