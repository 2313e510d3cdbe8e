// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_chips.h"

#include "models/text/foreign_text.h"
#include "views/run/run_colors.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QPixmap>
#include <QToolButton>

namespace trainyard {

namespace {

constexpr int kDotSize = 10; // pixels

QIcon dotOf(const QColor &color, qreal ratio)
{
    QPixmap dot(QSize(kDotSize, kDotSize) * ratio);
    dot.setDevicePixelRatio(ratio);
    dot.fill(Qt::transparent);
    QPainter painter(&dot);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawEllipse(QRectF(1, 1, kDotSize - 2, kDotSize - 2));
    return dot;
}

QString reasonOf(const LoadedRun &run)
{
    QStringList lines;
    for (const Error &error : run.errors)
        lines << QString::fromStdString(toString(error));
    return lines.join(u'\n');
}

} // namespace

RunChips::RunChips(LoadedRuns &runs, QWidget *parent)
    : QWidget(parent)
    , m_runs(runs)
    , m_row(new QHBoxLayout(this))
{
    setAccessibleName(tr("Runs that were read"));
    m_row->setContentsMargins(0, 0, 0, 0);
    m_row->setSpacing(4);
    connect(&runs, &LoadedRuns::changed, this, &RunChips::fill, Qt::QueuedConnection); // a chip may have asked for it
    fill();
}

QToolButton *RunChips::chip(const std::string &id) const
{
    return findChild<QToolButton *>(QStringLiteral("run/") + QString::fromStdString(id));
}

QToolButton *RunChips::cross(const std::string &id) const
{
    return findChild<QToolButton *>(QStringLiteral("close/") + QString::fromStdString(id));
}

void RunChips::fill()
{
    while (QLayoutItem *item = m_row->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const LoadedRun &run : m_runs.all())
        add(run);
    m_row->addStretch(1);
    const bool isShownAlone = m_runs.all().size() == 1 && m_runs.all().front().id == m_runs.current();
    setVisible(!m_runs.all().empty() && !isShownAlone);
}

void RunChips::add(const LoadedRun &run)
{
    const std::string id = run.id;
    auto *chip = new QToolButton(this);
    chip->setObjectName(QStringLiteral("run/") + QString::fromStdString(id));
    chip->setProperty("isFlat", true);
    chip->setCheckable(true);
    chip->setChecked(id == m_runs.current());
    chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    chip->setIcon(dotOf(run.run() || run.isReading ? runColor(run.color) : theme().bad, devicePixelRatioF()));
    chip->setText(run.run() ? run.name
            : run.isReading ? tr("%1, being read…").arg(run.name)
                            : tr("%1 could not be read").arg(run.name));
    chip->setEnabled(!run.isReading);
    const QString failed = run.run() || run.isReading ? QString() : reasonOf(run);
    chip->setToolTip(plainTip(failed.isEmpty() ? tr("Show this run\n%1").arg(run.opened.paths.join(u'\n'))
                                               : tr("%1\nA click tries again.").arg(failed)));
    chip->setAccessibleDescription(failed);
    connect(
        chip, &QToolButton::clicked, this,
        [this, id] {
            const LoadedRun *asked = m_runs.find(id);
            if (asked && asked->run())
                m_runs.show(id);
            else
                m_runs.readAgain(id);
            fill(); // a chip is pressed in while its run is shown, and only then
        },
        Qt::QueuedConnection);
    auto *cross = new QToolButton(this);
    cross->setObjectName(QStringLiteral("close/") + QString::fromStdString(id));
    cross->setProperty("isFlat", true);
    cross->setText(QStringLiteral("×"));
    cross->setAccessibleName(tr("Close %1").arg(run.name));
    cross->setToolTip(plainTip(tr("Close %1").arg(run.name)));
    connect(
        cross, &QToolButton::clicked, this, [this, id] { m_runs.close(id); }, Qt::QueuedConnection);
    m_row->addWidget(chip);
    m_row->addWidget(cross);
}

void RunChips::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        fill();
}

} // namespace trainyard
