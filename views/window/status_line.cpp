// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/status_line.h"

#include "models/text/format.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QMouseEvent>

#include <algorithm>

namespace trainyard {

namespace {

QString dot(const QColor &ink)
{
    return QStringLiteral("<span style='color:%1'>●</span> ").arg(ink.name());
}

QString engineText(const Metrics &metrics)
{
    return StatusLine::tr("%L1 spans simulated in %2, evaluated in %3")
        .arg(qulonglong(metrics.spans))
        .arg(formatSeconds(metrics.simulateMs * 1e-3), formatSeconds(metrics.evaluateMs * 1e-3));
}

QString trustText(const Confidence &confidence)
{
    if (confidence.label.empty())
        return {};
    QString text = QString::fromStdString(confidence.label);
    if (confidence.iterationLow && confidence.iterationHigh)
        text = StatusLine::tr("%1 to %2 (%3)").arg(formatSeconds(*confidence.iterationLow), formatSeconds(*confidence.iterationHigh), text);
    return StatusLine::tr(" · predicted %1").arg(text);
}

} // namespace

StatusLine::StatusLine(QWidget *parent) : QWidget(parent), m_left(new QLabel(this)), m_right(new QLabel(this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(Theme::kPad, 0, Theme::kPad, 4);
    row->addWidget(m_left, 1);
    row->addWidget(m_right);
    for (QLabel *label : {m_left, m_right})
        label->setFont(uiFont(-1));
    m_left->setForegroundRole(QPalette::PlaceholderText);
    m_right->setTextFormat(Qt::RichText);
    m_right->setCursor(Qt::PointingHandCursor);
    m_right->setToolTip(tr("Show the problems"));
    setAccessibleName(tr("Status"));
}

void StatusLine::setEvaluation(const EvaluationPtr &evaluation)
{
    if (!evaluation)
        return;
    m_evaluation = evaluation;
    const Theme &t = theme();
    m_engine = engineText(evaluation->metrics);
    const auto blocking = std::ranges::count(evaluation->problems, Severity::Blocking, &Problem::severity);
    const auto warnings = std::ranges::count(evaluation->problems, Severity::Warning, &Problem::severity);
    QString state;
    if (blocking > 0)
        state = dot(t.bad) + (blocking == 1 ? tr("1 problem") : tr("%1 problems").arg(qlonglong(blocking)));
    else if (warnings > 0)
        state = dot(t.warning) + (warnings == 1 ? tr("1 warning") : tr("%1 warnings").arg(qlonglong(warnings)));
    else
        state = dot(t.good) + tr("No problems");
    m_right->setText(state + trustText(evaluation->metrics.confidence));
    refresh();
}

void StatusLine::setErrors(const Errors &errors)
{
    const QString first = errors.empty() ? tr("This plan cannot be evaluated") : QString::fromStdString(toString(errors.front()));
    m_right->setText(dot(theme().bad) + first.toHtmlEscaped());
}

void StatusLine::setPreview(const QString &text)
{
    m_preview = text;
    refresh();
}

void StatusLine::setStale(bool isStale)
{
    m_isStale = isStale;
    refresh();
}

QString StatusLine::text() const
{
    return m_left->text();
}

void StatusLine::refresh()
{
    const QString state = m_isStale ? tr("Evaluating…") : m_engine;
    m_left->setText(m_preview.isEmpty() ? state : tr("If dropped: %1").arg(m_preview));
}

void StatusLine::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        setEvaluation(EvaluationPtr(m_evaluation));   // its dot holds a colour
}

void StatusLine::mousePressEvent(QMouseEvent *event)
{
    if (m_right->geometry().contains(event->pos()))
        emit problemsRequested();
}

} // namespace trainyard
