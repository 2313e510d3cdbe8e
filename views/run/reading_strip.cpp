// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/reading_strip.h"

#include "models/text/foreign_text.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>

namespace trainyard {

namespace {

constexpr int kDelayMs = 150, kBarWidth = 220, kSteps = 1000;

} // namespace

ReadingStrip::ReadingStrip(RunDocument &runs, QWidget *parent)
    : QWidget(parent)
    , cancel(new QPushButton(tr("Cancel"), this))
    , bar(new QProgressBar(this))
    , m_runs(runs)
    , m_title(new TextLine({}, Ink::Text, this))
    , m_text(new TextLine({}, Ink::Muted, this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(Theme::kPad + 2, 5, 6, 5);
    row->setSpacing(Theme::kPad);
    row->addWidget(m_title);
    row->addWidget(m_text, 1);
    row->addWidget(bar);
    row->addWidget(cancel);
    m_title->setFont(uiFont(0, QFont::DemiBold));
    bar->setFixedWidth(kBarWidth);
    bar->setRange(0, kSteps);
    bar->setTextVisible(false);
    bar->setAccessibleName(tr("Share of the bytes that is read"));
    cancel->setToolTip(tr("Stop reading; what was shown stays"));
    setAccessibleName(tr("Reading a run"));
    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, [this] { setVisible(m_runs.isReading()); });
    connect(cancel, &QPushButton::clicked, &runs, &RunDocument::cancel);
    connect(&runs, &RunDocument::readingChanged, this, &ReadingStrip::showState);
    connect(&runs, &RunDocument::progressChanged, this, &ReadingStrip::showProgress);
    hide();
}

QString ReadingStrip::text() const
{
    return m_text->text();
}

void ReadingStrip::showState(bool isReading)
{
    if (!isReading) {
        m_delay.stop();
        hide();
        return;
    }
    m_title->setText(m_runs.isReadingReference() ? tr("Reading the run to compare with") : tr("Reading the run"));
    if (m_delay.interval() > 0)
        m_delay.start();
    else
        show();
}

void ReadingStrip::showProgress(const ReadingProgress &progress)
{
    bar->setRange(0, progress.files > 0 ? kSteps : 0);
    bar->setValue(int(progress.share * kSteps));
    const QString file = fileText(progress.file);
    m_text->setText(progress.files == 0 ? tr("Looking for files…")
                                        : tr("%L1 of %L2 files  ·  %3")
                                              .arg(qulonglong(progress.filesDone))
                                              .arg(qulonglong(progress.files))
                                              .arg(file));
}

void ReadingStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme().border);
    painter.setBrush(theme().panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), Theme::kRadius, Theme::kRadius);
}

} // namespace trainyard
