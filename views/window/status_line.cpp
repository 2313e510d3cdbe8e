// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/status_line.h"

#include "core/facts/catalogue/catalogue.h"
#include "models/calibration_rows.h"
#include "models/text/format.h"
#include "views/panels/confidence_button.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>

#include <algorithm>

namespace trainyard {

namespace {

QString dot(const QColor &ink)
{
    return QStringLiteral("<span style='color:%1'>●</span> ").arg(ink.name());
}

QString engineText(const Metrics &metrics, bool wasKnown)
{
    // A plan without times was not simulated.
    if (wasKnown)
        return metrics.spans > 0 ? StatusLine::tr("%L1 spans, from cache").arg(qulonglong(metrics.spans))
                                 : StatusLine::tr("From cache");
    QStringList parts;
    if (metrics.spans > 0)
        parts << StatusLine::tr("%L1 spans simulated in %2")
                     .arg(qulonglong(metrics.spans))
                     .arg(formatSeconds(metrics.simulateMs * 1e-3));
    if (metrics.evaluateMs > 0)
        parts << StatusLine::tr("evaluated in %1").arg(formatSeconds(metrics.evaluateMs * 1e-3));
    QString text = parts.join(QStringLiteral(", "));
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}

} // namespace

StatusLine::StatusLine(QWidget *parent)
    : QWidget(parent)
    , m_left(new QLabel(this))
    , m_right(new QLabel(this))
    , m_confidence(new ConfidenceButton(this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(Theme::kPad, 0, Theme::kPad, 4);
    row->addWidget(m_left, 1);
    row->addWidget(m_right);
    row->addSpacing(Theme::kPad);
    row->addWidget(m_confidence);
    connect(m_confidence, &ConfidenceButton::clicked, this, &StatusLine::validationRequested);
    for (QLabel *label : { m_left, m_right })
        label->setFont(uiFont(-1));
    m_left->setForegroundRole(QPalette::PlaceholderText);
    m_right->setTextFormat(Qt::RichText);
    m_right->setCursor(Qt::PointingHandCursor);
    m_right->setToolTip(tr("Show the problems"));
    setAccessibleName(tr("Status"));
}

void StatusLine::setEvaluation(const EvaluationPtr &evaluation, int evidence, bool wasKnown)
{
    m_wasKnown = wasKnown;
    m_evaluation = evaluation;
    m_evidence = evidence;
    m_errors.reset();
    refresh();
}

void StatusLine::setErrors(const Errors &errors)
{
    m_evaluation.reset();
    m_errors = errors;
    refresh();
}

QString StatusLine::verdict() const
{
    const Theme &t = theme();
    if (m_errors)
        return dot(t.bad)
            + (m_errors->empty() ? tr("This plan cannot be evaluated")
                                 : QString::fromStdString(toString(m_errors->front())).toHtmlEscaped());
    if (!m_evaluation)
        return {};
    const auto blocking = std::ranges::count(m_evaluation->problems, Severity::Blocking, &Problem::severity);
    const auto warnings = std::ranges::count(m_evaluation->problems, Severity::Warning, &Problem::severity);
    const auto notes = std::ranges::count(m_evaluation->problems, Severity::Note, &Problem::severity);
    QString state;
    if (blocking > 0)
        state = dot(t.bad) + countOf(blocking, tr("problem"), tr("problems"));
    else if (warnings > 0)
        state = dot(t.warning) + countOf(warnings, tr("warning"), tr("warnings"));
    else if (notes > 0) // a few idle GPUs are one: "no problems" would hide them
        state = dot(t.good) + countOf(notes, tr("note"), tr("notes"));
    else
        state = dot(t.good) + tr("No problems");
    return state;
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
    const QString state = m_isStale ? tr("Evaluating…")
        : m_evaluation              ? engineText(m_evaluation->metrics, m_wasKnown)
                                    : QString();
    m_left->setText(m_preview.isEmpty() ? state : tr("Preview: %1").arg(m_preview));
    m_right->setText(verdict());
    m_confidence->setMetrics(m_evaluation ? &m_evaluation->metrics : nullptr, m_evidence,
        m_evaluation ? calibrationSentences(*m_evaluation->plan, builtinCatalogue()) : QStringList());
    m_confidence->setStale(m_isStale);
}

void StatusLine::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh(); // a dot holds a colour
}

void StatusLine::mousePressEvent(QMouseEvent *event)
{
    if (m_right->geometry().contains(event->pos()))
        emit problemsRequested();
}

} // namespace trainyard
