// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/confidence_button.h"

#include "models/text/confidence_text.h"
#include "views/panels/number_card.h"
#include "views/parts/plain_texts.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QPainter>

namespace trainyard {

namespace {

constexpr int kBars = 3, kBarWidth = 3, kBarGap = 2, kBeforeText = 6, kConfidenceSide = 4;
constexpr int kBarsWidth = kBars * (kBarWidth + kBarGap);

} // namespace

ConfidenceButton::ConfidenceButton(QWidget *parent)
    : QAbstractButton(parent)
{
    setFont(uiFont(-1));
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAttribute(Qt::WA_Hover);
    setMetrics(nullptr, 0);
}

void ConfidenceButton::setMetrics(const Metrics *metrics, int evidence, const QStringList &learned)
{
    const bool isOfJobs = metrics && metrics->jobs;
    const bool isKnown =
        metrics && !metrics->confidence.label.empty() && (isOfJobs ? metrics->jobs->makespan : metrics->iterationTime);
    setVisible(isKnown);
    if (!isKnown)
        return;
    m_level = trustLevel(metrics->confidence.label);
    setText(confidenceText(*metrics));
    QString taken;
    if (!learned.isEmpty())
        taken = QStringLiteral("<br><br>%1<br>%2")
                    .arg(tr("The plan has learned from runs:").toHtmlEscaped(),
                        learned.join(u'\n').toHtmlEscaped().replace(u'\n', QStringLiteral("<br>")));
    setRichTip(*this,
        QStringLiteral("<b>%1</b><br>%2%3<br><br>%4")
            .arg(text().toHtmlEscaped(), basisText(metrics->confidence, evidence).toHtmlEscaped(), taken,
                tr("Click for the validation: predictions beside published measurements.")));
    setAccessibleName((isOfJobs ? tr("Predicted time of all jobs: %1") : tr("Predicted iteration: %1")).arg(text()));
    setAccessibleDescription(basisText(metrics->confidence, evidence));
    updateGeometry();
    update();
}

void ConfidenceButton::setStale(bool stale)
{
    m_stale = stale;
    update();
}

QSize ConfidenceButton::sizeHint() const
{
    return { kBarsWidth + kBeforeText + m_width.of(text(), font()) + 2 * kConfidenceSide, fontMetrics().height() + 2 };
}

QSize ConfidenceButton::minimumSizeHint() const
{
    return { kBarsWidth + kBeforeText + fontMetrics().averageCharWidth() * 12, sizeHint().height() };
}

void ConfidenceButton::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (hasFocus()) {
        painter.setPen(theme().accent);
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    }
    if (m_stale)
        painter.setOpacity(kStaleOpacity);
    painter.setPen(Qt::NoPen);
    const QColor filled = m_level >= 2 ? theme().good : theme().warning;
    const int bottom = height() / 2 + 5;
    for (int bar = 0; bar < kBars; ++bar) {
        const int tall = 4 + 3 * bar;
        painter.setBrush(bar < m_level ? filled : theme().border);
        painter.drawRoundedRect(
            QRectF(kConfidenceSide + bar * (kBarWidth + kBarGap), bottom - tall, kBarWidth, tall), 1, 1);
    }
    painter.setPen(underMouse() ? theme().accent : theme().text);
    const QRect room = rect().adjusted(kConfidenceSide + kBarsWidth + kBeforeText, 0, 0, 0);
    painter.drawText(
        room, Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
}

void ConfidenceButton::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        update();
    QAbstractButton::changeEvent(event);
}

} // namespace trainyard
