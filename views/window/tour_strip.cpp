// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/tour_strip.h"

#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSettings>

#include <array>

namespace trainyard {

namespace {

const QString kKey = QStringLiteral("tour/dismissed");

constexpr std::array kSteps {
    QT_TRANSLATE_NOOP("TourStrip",
        "<b>Drag GPUs</b> from one datacenter to another: every number follows while you hold them, and Esc puts them "
        "back."),
    QT_TRANSLATE_NOOP("TourStrip",
        "<b>Flip a strategy</b> on the right: beside each you see beforehand what it would do to the iteration."),
    QT_TRANSLATE_NOOP("TourStrip",
        "<b>Zoom into the iteration</b> in the timeline with Ctrl+wheel or W and S. Ctrl+Shift+P finds every command, "
        "? shows the keys."),
};

} // namespace

TourStrip::TourStrip(QWidget *parent)
    : QWidget(parent)
    , m_number(new QLabel(this))
    , m_text(new QLabel(this))
    , m_next(new QPushButton(this))
    , m_skip(new QPushButton(tr("Skip"), this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(Theme::kPad, 5, 6, 5);
    row->addWidget(m_number);
    row->addWidget(m_text, 1);
    row->addWidget(m_skip);
    row->addWidget(m_next);
    m_text->setWordWrap(true);
    m_text->setTextFormat(Qt::RichText);
    m_skip->setProperty("isFlat", true);
    m_next->setProperty("isPrimary", true);
    setAccessibleName(tr("Tour"));
    connect(m_next, &QPushButton::clicked, this, &TourStrip::next);
    connect(m_skip, &QPushButton::clicked, this, &TourStrip::dismiss);
    hide();
}

bool TourStrip::wasDismissed()
{
    return QSettings().value(kKey, false).toBool();
}

void TourStrip::start()
{
    m_step = 0;
    show();
    showStep();
}

void TourStrip::next()
{
    if (++m_step >= int(kSteps.size()))
        dismiss();
    else
        showStep();
}

void TourStrip::dismiss()
{
    QSettings().setValue(kKey, true);
    hide();
    emit dismissed();
}

void TourStrip::showStep()
{
    m_number->setText(tr("%1 of %2").arg(m_step + 1).arg(kSteps.size()));
    m_text->setText(tr(kSteps[std::size_t(m_step)]));
    const bool isLast = m_step + 1 == int(kSteps.size());
    m_next->setText(isLast ? tr("Done") : tr("Next"));
    m_skip->setVisible(!isLast);
    emit stepShown(m_step);
}

void TourStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintCard(painter, rect(), theme().accentSoft, theme().accent);
}

} // namespace trainyard
