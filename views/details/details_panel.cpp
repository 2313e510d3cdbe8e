// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/details_panel.h"

#include "core/engine/timeline/analysis.h"
#include "models/job_spans.h"
#include "models/text/format.h"
#include "models/validation/text_table_model.h"
#include "views/panels/evidence_table.h"
#include "views/panels/fact_table.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"
#include "views/timeline/same_span.h"
#include "views/timeline/span_text.h"

#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr std::size_t kMostCauses = 200;
constexpr int kChainRows = 8; // in sight without scrolling

bool isCritical(const Timeline &timeline, std::uint32_t span)
{
    const std::vector<std::uint32_t> path = criticalPath(timeline);
    return std::ranges::find(path, span) != path.end();
}

QToolButton *walkButton(const QString &text, const QString &tip, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    button->setText(text);
    button->setToolTip(tip);
    button->setAccessibleName(tip);
    button->setFocusPolicy(Qt::TabFocus);
    button->setProperty("isFlat", true);
    return button;
}

} // namespace

DetailsPanel::DetailsPanel(QWidget *parent)
    : QWidget(parent)
    , m_title(new TextLine({}, Ink::Text, this))
    , m_subtitle(new TextLine({}, Ink::Muted, this))
    , m_empty(new TextLine({}, Ink::Faint, this))
    , m_back(walkButton(QStringLiteral("["), tr("To what it waited for"), this))
    , m_forth(walkButton(QStringLiteral("]"), tr("To what waited for it"), this))
    , m_facts(new FactTable(this))
    , m_chainTitle(new SectionTitle(tr("Chain of causes"), tr("latest first"), this))
    , m_chainModel(new TextTableModel(this))
    , m_chain(new EvidenceTable(tr("Chain of causes"), 0, this))
    , m_docked(new QVBoxLayout)
    , m_dockedBelow(new QVBoxLayout)
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Details"));
    QFont bold = uiFont(-1, QFont::DemiBold);
    m_title->setFont(bold);
    m_title->setWrapped(true);
    m_empty->setWrapped(true);
    m_chain->setModel(m_chainModel);
    m_chain->setSelectionMode(QAbstractItemView::SingleSelection);
    m_chain->setTextElideMode(Qt::ElideRight);
    QVBoxLayout *layout = panelLayout(this);
    layout->addLayout(m_docked);
    auto *head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_back, 0, Qt::AlignTop);
    head->addWidget(m_forth, 0, Qt::AlignTop);
    layout->addLayout(head);
    layout->addWidget(m_subtitle);
    layout->addLayout(m_dockedBelow);
    layout->addWidget(m_facts);
    layout->addWidget(m_chainTitle);
    layout->addWidget(m_chain);
    layout->addWidget(m_empty);
    layout->addStretch(1);
    const auto go = [this](const QModelIndex &index) {
        if (index.row() >= 0 && index.row() < int(m_causes.size()))
            emit spanRequested(m_causes[std::size_t(index.row())].span);
    };
    connect(m_chain, &QAbstractItemView::clicked, this, go);
    connect(m_chain, &QAbstractItemView::activated, this, go);
    connect(m_back, &QToolButton::clicked, this, &DetailsPanel::causeRequested);
    connect(m_forth, &QToolButton::clicked, this, &DetailsPanel::effectRequested);
    refresh();
}

void DetailsPanel::setEvaluation(EvaluationPtr evaluation)
{
    if (m_span != kNoSpan) // follows its work through the edit
        m_span = m_evaluation && evaluation ? sameSpan(m_evaluation->timeline, m_span, evaluation->timeline) : kNoSpan;
    m_evaluation = std::move(evaluation);
    refresh();
}

void DetailsPanel::showSpan(std::uint32_t span)
{
    m_span = span;
    if (span != kNoSpan) {
        m_item = {};
        m_stage = -1;
        m_measured = {};
    }
    refresh();
}

void DetailsPanel::showItem(const MapItem &item)
{
    m_item = item;
    if (item.kind != MapItem::Kind::None) {
        m_span = kNoSpan;
        m_stage = -1;
        m_measured = {};
    }
    refresh();
}

void DetailsPanel::showStage(int stage)
{
    m_stage = stage;
    m_span = kNoSpan;
    m_item = {};
    m_measured = {};
    refresh();
}

void DetailsPanel::showMeasured(const QString &title, const QList<std::pair<QString, QString>> &facts)
{
    m_measured = {};
    if (!title.isEmpty()) {
        m_span = kNoSpan;
        m_item = {};
        m_stage = -1;
        m_measured.title = title;
        m_measured.subtitle = tr("measured in the run");
    }
    for (const auto &[name, value] : facts)
        m_measured.facts.push_back({ !name.isEmpty() ? name.left(1).toUpper() + name.mid(1)
                : m_measured.facts.empty()           ? tr("Time")
                                                     : tr("Recording"),
            value, {} });
    refresh();
}

void DetailsPanel::setStale(bool isStale)
{
    dimLines(*m_facts, isStale);
}

void DetailsPanel::dock(QWidget *table)
{
    m_docked->addWidget(table);
}

void DetailsPanel::dockBelow(QWidget *table)
{
    m_dockedBelow->addWidget(table);
}

QString DetailsPanel::title() const
{
    return m_details.title;
}

void DetailsPanel::refresh()
{
    if (!isVisible()) {
        m_isOwed = true; // nobody looks: worked out when somebody does
        return;
    }
    m_isOwed = false;
    Details details;
    if (m_evaluation && m_span != kNoSpan)
        details = spanDetails(*m_evaluation, m_span, isCritical(m_evaluation->timeline, m_span));
    else if (!m_measured.title.isEmpty())
        details = m_measured;
    else if (m_evaluation && m_stage >= 0 && isOfJobs(*m_evaluation))
        details = jobGpuDetails(*m_evaluation, m_stage);
    else if (m_evaluation && m_stage >= 0 && m_stage < int(m_evaluation->layout.chunks.size()))
        details = stageDetails(*m_evaluation, m_stage);
    else if (m_evaluation)
        details = itemDetails(*m_evaluation, m_item);
    fill(details);
    listCauses(m_evaluation && m_span != kNoSpan && !details.title.isEmpty());
}

void DetailsPanel::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_isOwed)
        refresh();
}

void DetailsPanel::fill(const Details &details)
{
    m_details = details;
    const bool isEmpty = details.title.isEmpty();
    m_title->setText(details.title);
    m_subtitle->setText(details.subtitle);
    m_facts->setLines(details.facts);
    m_title->setVisible(!isEmpty);
    m_subtitle->setVisible(!details.subtitle.isEmpty());
    m_facts->setVisible(!isEmpty);
    m_empty->setText(
        isEmpty ? tr(
            "Click a span of the timeline, a GPU, a link or a datacenter: what it is and what it waits for stays here.")
                : QString());
    m_empty->setVisible(isEmpty);
}

void DetailsPanel::listCauses(bool isSpan)
{
    for (QWidget *part : { static_cast<QWidget *>(m_chainTitle), static_cast<QWidget *>(m_chain),
             static_cast<QWidget *>(m_back), static_cast<QWidget *>(m_forth) })
        part->setVisible(isSpan);
    m_causes.clear();
    if (!isSpan)
        return;
    m_causes = causeChain(m_evaluation->timeline, m_span, kMostCauses);
    TextRows rows { { tr("Span"), tr("Length"), tr("Waited") }, {} };
    for (const CauseStep &step : m_causes)
        rows.lines.push_back({ { spanName(*m_evaluation, step.span), formatSeconds(double(step.length) * 1e-9),
                                   step.wait > 0 ? formatSeconds(double(step.wait) * 1e-9) : QString() },
            step.wait > 0 ? Tone::Warning : Tone::Muted, -1, spanTitle(*m_evaluation, step.span) });
    m_chainModel->setTable(std::move(rows));
    m_chain->selectRow(0);
    const int rowsShown = std::min(kChainRows, int(m_causes.size())) + 1;
    m_chain->setFixedHeight(rowsShown * (m_chain->fontMetrics().height() + 6) + 10);
}

QString DetailsPanel::toTsv() const
{
    QString text = m_details.title + u'\n';
    for (const DetailFact &fact : m_details.facts)
        text += fact.name.trimmed() + u'\t' + fact.value + u'\n';
    return text + (m_causes.empty() ? QString() : u'\n' + m_chain->toTsv());
}

} // namespace trainyard
