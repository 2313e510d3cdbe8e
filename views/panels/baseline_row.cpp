// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/baseline_row.h"

#include "models/text/format.h"
#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/panels/set_bars.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

#include <cmath>

namespace trainyard {

namespace {

QString sentence(const std::string &text)
{
    QString shown = QString::fromStdString(text);
    if (!shown.isEmpty())
        shown[0] = shown[0].toUpper();
    return shown.isEmpty() ? shown : shown + u'.';
}

/// Dollars per million tokens.
QString priceOf(const SharingResult &result)
{
    if (!result.usdPerIteration || !result.of.plan)
        return QStringLiteral("–");
    const WorkloadSpec &work = result.of.plan->workload;
    const double tokens = double(work.globalBatch) * work.sequenceLength;
    return tokens > 0 ? formatUsd(*result.usdPerIteration / tokens * 1e6) : QStringLiteral("–");
}

/// "20.4 / 18.1 GB".
QString ofCapacity(double bytes, double capacity)
{
    const QString all = formatBytes(capacity), unit = all.section(u' ', 1);
    const QString used = formatBytes(bytes);
    return (used.endsWith(u' ' + unit) ? used.section(u' ', 0, 0) : used) + QStringLiteral(" / ") + all;
}

} // namespace

BaselineRow::BaselineRow(QWidget *parent)
    : QWidget(parent)
    , m_name(new TextLine({}, Ink::Text, this))
    , m_now(new TextLine(tr("now"), Ink::Accent, this))
    , m_why(new TextLine({}, Ink::Muted, this))
    , m_time(new TextLine)
    , m_change(new TextLine)
    , m_rate(new TextLine({}, Ink::Muted))
    , m_memory(new TextLine({}, Ink::Muted))
    , m_price(new TextLine({}, Ink::Muted))
    , m_figures(new QWidget(this))
    , m_use(new HoverButton(tr("Use this plan"), this))
    , m_bars(new SetBars(this))
{
    setFocusPolicy(Qt::StrongFocus);
    m_name->setFont(uiFont(-1, QFont::DemiBold));
    m_name->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_now->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    m_use->setFixedHeight(fontMetrics().height() + 6);
    m_why->setWrapped(true);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(m_name, 1);
    head->addWidget(m_now);
    head->addWidget(m_use);
    auto *figures = new QHBoxLayout(m_figures);
    figures->setContentsMargins(0, 0, 0, 0);
    figures->setSpacing(Theme::kGap);
    const struct {
        TextLine *line;
        int stretch;
    } columns[] = { { m_time, 3 }, { m_change, 3 }, { m_rate, 3 }, { m_memory, 5 }, { m_price, 4 } };
    for (const auto &column : columns) {
        column.line->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        column.line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        figures->addWidget(column.line, column.stretch);
    }
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 5, 4, 5);
    layout->setSpacing(1);
    layout->addLayout(head);
    layout->addWidget(m_figures);
    layout->addWidget(m_why);
    layout->addWidget(m_bars);
    m_bars->hide();
    const auto text = [this] { return QString::fromStdString(m_result.of.sentence); };
    connect(m_use, &QPushButton::clicked, this, [this, text] { Q_EMIT used(m_result.of.plan, text()); });
    connect(m_use, &HoverButton::entered, this, [this, text] {
        if (m_use->isEnabled())
            Q_EMIT previewed(m_result.of.plan, text());
    });
    connect(m_use, &HoverButton::left, this, &BaselineRow::previewEnded);
}

void BaselineRow::setResult(const SharingResult &result, double now)
{
    m_result = result;
    m_name->setText(QString::fromStdString(m_result.of.label));
    setToolTip(sentence(m_result.of.what));
    m_figures->setVisible(m_result.isEvaluated);
    m_now->setVisible(m_result.of.isCurrent);
    m_use->setVisible(m_result.of.plan && !m_result.of.isCurrent);
    m_use->setAccessibleName(tr("Use this plan: %1").arg(m_name->text()));
    m_name->setInk(m_result.isFeasible ? Ink::Text : Ink::Muted);
    m_why->setText(sentence(m_result.why));
    m_why->setInk(m_result.isEvaluated && !m_result.isFeasible ? Ink::Bad : Ink::Muted);
    m_why->setVisible(!m_why->text().isEmpty());
    m_bars->setSets(m_result.sets);
    showFigures(now);
    setAccessibleName(
        QStringLiteral("%1: %2. %3").arg(m_name->text(), figures().join(QStringLiteral(", ")), m_why->text()));
}

void BaselineRow::showFigures(double now)
{
    const QString none = QStringLiteral("–");
    m_time->setText(m_result.iterationTime ? formatSeconds(*m_result.iterationTime) : none);
    QString change;
    Ink ink = Ink::Faint;
    if (m_result.iterationTime && now > 0) {
        const double by = *m_result.iterationTime / now - 1;
        change = std::abs(by) < kNoChange ? tr("±0") : formatChange(now, *m_result.iterationTime);
        ink = std::abs(by) < kNoChange      ? Ink::Faint
            : by < 0 && m_result.isFeasible ? Ink::Good
            : by < 0                        ? Ink::Muted
                                            : Ink::Bad;
    }
    m_change->setText(change);
    m_change->setInk(ink);
    m_rate->setText(
        m_result.samplesPerSecond ? tr("%1 /s").arg(QString::number(*m_result.samplesPerSecond, 'g', 3)) : none);
    m_memory->setText(m_result.capacity > 0 ? ofCapacity(double(m_result.peak), double(m_result.capacity)) : none);
    m_memory->setInk(m_result.fits ? Ink::Muted : Ink::Bad);
    m_price->setText(priceOf(m_result));
}

QStringList BaselineRow::figures() const
{
    QStringList texts;
    for (const TextLine *line : { m_time, m_change, m_rate, m_memory, m_price })
        texts << line->text();
    return texts;
}

void BaselineRow::setApplicable(bool isApplicable)
{
    m_use->setEnabled(isApplicable);
}

void BaselineRow::setOpen(bool isOpen)
{
    m_bars->setVisible(isOpen && !m_result.sets.empty());
    update();
}

bool BaselineRow::isOpen() const
{
    return m_bars->isVisibleTo(this);
}

bool BaselineRow::event(QEvent *event)
{
    if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)
        update();
    return QWidget::event(event);
}

void BaselineRow::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return QWidget::mousePressEvent(event);
    Q_EMIT opened();
}

void BaselineRow::keyPressEvent(QKeyEvent *event)
{
    if (event->key() != Qt::Key_Space && event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter)
        return QWidget::keyPressEvent(event);
    Q_EMIT opened();
}

void BaselineRow::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(QRect(0, 0, width(), 1), theme().grid);
    if (!isOpen() && !hasFocus())
        return;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(hasFocus() ? QPen(theme().accent, 1) : QPen(Qt::NoPen));
    painter.setBrush(isOpen() ? QBrush(theme().panelRaised) : QBrush(Qt::NoBrush));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 1.5, -0.5, -0.5), 3, 3);
}

} // namespace trainyard
