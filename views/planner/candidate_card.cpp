// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/candidate_card.h"

#include "models/planner_words.h"
#include "models/text/duration.h"
#include "models/text/format.h"
#include "views/parts/panel_parts.h"
#include "views/planner/planner_tables.h"
#include "views/planner/step_list.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kNameShare = 34, kBeforeShare = 23, kAfterShare = 23, kChangeShare = 20;

using Text = QString (*)(double);

} // namespace

CandidateCard::CandidateCard(PlanSearch &search, QWidget *parent)
    : QWidget(parent)
    , tryIt(new QPushButton(tr("Try"), this))
    , adopt(new QPushButton(tr("Adopt"), this))
    , steps(new StepList(search, this))
    , m_search(search)
    , m_title(new TextLine({}, Ink::Text, this))
    , m_reason(new TextLine({}, Ink::Warning, this))
    , m_idle(new TextLine({}, Ink::Muted, this))
    , m_world(new TextLine({}, Ink::Muted, this))
    , m_facts(new QWidget(this))
    , m_changes(new SectionTitle(tr("What changes"), tr("and what each change buys"), this))
{
    setFont(uiFont(-1));
    setAccessibleName(tr("The chosen candidate"));
    m_title->setFont(uiFont(1, QFont::DemiBold));
    m_reason->setWrapped(true);
    m_idle->setWrapped(true);
    m_world->setWrapped(true);
    tryIt->setProperty("isPrimary", true);
    tryIt->setToolTip(tr("Shows the whole window with this plan. Esc comes back."));
    adopt->setToolTip(tr("Makes it the plan: one step to undo."));
    arrange();
    connect(tryIt, &QPushButton::clicked, this, [this] { Q_EMIT tryRequested(m_row); });
    connect(adopt, &QPushButton::clicked, this, [this] { Q_EMIT adoptRequested(m_row); });
    refresh();
}

void CandidateCard::arrange()
{
    QVBoxLayout *column = panelLayout(this);
    column->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(m_title, 1);
    head->addWidget(tryIt);
    head->addWidget(adopt);
    column->addLayout(head);
    column->addWidget(m_reason);
    auto *list = new QVBoxLayout(m_facts);
    list->setContentsMargins(0, 0, 0, 0);
    list->setSpacing(2);
    const std::array<QString, kFacts + 1> names { QString(), tr("Iteration"), tr("Tokens/s"), tr("Per Mtok"),
        tr("Per hour"), tr("GPUs"), tr("Fullest GPU"), tr("Worst case") };
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto *line = new QWidget(m_facts);
        auto *row = new QHBoxLayout(line);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(Theme::kGap);
        const bool isHead = i == 0;
        const Fact fact { line, new TextLine(names[i], Ink::Muted, line),
            new TextLine(isHead ? tr("your plan") : QString(), isHead ? Ink::Faint : Ink::Muted, line),
            new TextLine(isHead ? tr("candidate") : QString(), isHead ? Ink::Faint : Ink::Text, line),
            new TextLine({}, Ink::Good, line) };
        const int shares[] = { kNameShare, kBeforeShare, kAfterShare, kChangeShare };
        int at = 0;
        for (TextLine *text : { fact.name, fact.before, fact.after, fact.change }) {
            text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
            text->setAlignment((at == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
            row->addWidget(text, shares[at++]);
        }
        list->addWidget(line);
        if (!isHead)
            m_lines[i - 1] = fact;
    }
    column->addWidget(m_facts);
    column->addWidget(m_idle);
    column->addWidget(m_world);
    column->addWidget(m_changes);
    column->addWidget(steps);
    column->addStretch(1);
}

QString CandidateCard::title() const
{
    return m_title->text();
}

QString CandidateCard::reason() const
{
    return m_reason->text();
}

QString CandidateCard::idle() const
{
    return m_idle->isHidden() ? QString() : m_idle->text();
}

/// One sentence with both prices: as it is written, and the other way.
void CandidateCard::tellIdle(const SearchRow &row, bool isOwn)
{
    const PlanPtr &cluster = isOwn ? m_search.plan() : m_search.searchedPlan(); // an adopted one gave them back
    const int idle = cluster && row.gpus > 0 ? cluster->cluster.gpus() - row.gpus : 0;
    const QString price = tr("%1 per hour, %2 per million tokens")
                              .arg(formatUsd(row.clusterUsdPerHour), formatUsd(row.clusterUsdPerMillionTokens));
    QString text;
    if (idle > 0 && row.clusterUsdPerHour > 0) {
        const bool keeps = m_search.asked().keepsIdle;
        text = isOwn ? tr("It leaves %1 idle, which are in its price.").arg(gpusText(idle))
            : keeps  ? tr("It leaves %1 idle and keeps them, in every price here.").arg(gpusText(idle))
                     : tr("It gives %1 back that it leaves idle. With them: %2.").arg(gpusText(idle), price);
    }
    m_idle->setText(text);
    m_idle->setVisible(!text.isEmpty());
}

QString CandidateCard::world() const
{
    return m_world->isHidden() ? QString() : m_world->text();
}

QString CandidateCard::fact(const QString &name) const
{
    const auto found = std::ranges::find(m_lines, name, [](const Fact &fact) { return fact.name->text(); });
    return found == m_lines.end() || found->line->isHidden() ? QString() : found->after->text();
}

void CandidateCard::setRow(int row)
{
    m_row = row;
    steps->setRow(row);
    refresh();
}

void CandidateCard::setFact(
    std::size_t at, const QString &before, const QString &after, const QString &change, bool isGood)
{
    const Fact &fact = m_lines[at];
    fact.before->setText(before);
    fact.after->setText(after);
    fact.change->setText(change);
    fact.change->setInk(change == formatChange(1, 1) ? Ink::Muted : isGood ? Ink::Good : Ink::Bad);
}

void CandidateCard::refresh()
{
    const std::vector<SearchRow> &rows = m_search.rows();
    const bool has = m_row >= 0 && m_row < int(rows.size());
    m_facts->setVisible(has);
    m_changes->setVisible(has);
    const bool isOwn = has && m_search.own() == std::size_t(m_row);
    tryIt->setVisible(has && !isOwn);
    adopt->setVisible(has && !isOwn);
    if (!has) {
        m_title->setText({});
        m_reason->hide();
        m_idle->hide();
        m_world->setText(
            tr("A candidate that is chosen stands here: its figures beside the plan's, and what each change buys."));
        m_world->show();
        return;
    }
    const SearchRow &row = rows[std::size_t(m_row)];
    const auto own = m_search.own();
    const auto place = std::ranges::find(m_search.best(), std::size_t(m_row));
    const auto rank = place - m_search.best().begin();
    m_title->setText(isOwn                   ? tr("Your plan")
            : place == m_search.best().end() ? tr("A candidate, %1").arg(nameOf(row.state))
            : rank == 0                      ? tr("The best")
                                             : tr("Number %1 of the best").arg(rank + 1));
    m_reason->setText(row.reason.empty() ? QString() : reasonText(row.reason) + u'.');
    m_reason->setVisible(!row.reason.empty());
    m_reason->setInk(row.state == RowState::OutOfConstraint ? Ink::Warning
            : row.state == RowState::Outdone                ? Ink::Muted
                                                            : Ink::Bad);
    const PlanPtr plan = m_search.planOf(std::size_t(m_row));
    const bool isOther =
        plan && !isOwn && !(m_search.plan() && *plan == *m_search.plan()); // than the plan as it is now
    tryIt->setEnabled(isOther);
    adopt->setEnabled(isOther && row.state != RowState::Refused && row.state != RowState::Infeasible);
    const SearchRow before = own ? rows[*own] : SearchRow {};
    const auto set = [&](std::size_t at, double was, double is, Text text, bool isLessBetter) {
        const QString change = !isOwn && was > 0 && is > 0 && was != is ? formatChange(was, is) : QString();
        setFact(at, orDash(was, text), isOwn ? QString() : orDash(is, text), change, (is < was) == isLessBetter);
    };
    set(0, before.seconds, row.seconds, formatDuration, true);
    if (!isOwn && row.seconds > 0 && !(row.tokensPerSecond > 0))
        m_lines[0].after->setText(QStringLiteral("≥ ") + formatDuration(row.seconds));
    set(1, before.tokensPerSecond, row.tokensPerSecond, formatCount, false);
    set(2, before.usdPerMillionTokens, row.usdPerMillionTokens, formatUsd, true);
    set(3, before.usdPerHour, row.usdPerHour, formatUsd, true);
    tellIdle(row, isOwn);
    set(
        4, before.gpus, row.gpus, [](double v) { return QStringLiteral("%L1").arg(qlonglong(v)); }, true);
    set(5, before.fill, row.fill, formatPercent, true);
    m_lines[5].change->setText({}); // neither good nor bad while it fits
    const auto known = [](const SearchRow &one) { return one.state == RowState::Feasible ? one.value : 0; };
    const QString robust = robustName(m_search);
    m_lines[6].line->setVisible(!robust.isEmpty());
    if (!robust.isEmpty()) {
        m_lines[6].name->setText(robust);
        const auto told = [&](double value) {
            return value > 0 ? valueText(m_search.objective(), value) : QStringLiteral("–");
        };
        const double was = known(before), is = known(row);
        const bool isRate = m_search.objective() == Objective::Throughput; // the value is its inverse
        const bool isBoth = !isOwn && was > 0 && is > 0 && was != is;
        setFact(6, told(was), isOwn ? QString() : told(is),
            isBoth ? (isRate ? formatChange(1 / was, 1 / is) : formatChange(was, is)) : QString(), is < was);
        m_lines[6].before->setShortText(told(was).section(u' ', 0, 0));
        m_lines[6].after->setShortText(isOwn ? QString() : told(is).section(u' ', 0, 0));
    }
    const QString world = worldText(m_search, row);
    m_world->setText(world.isEmpty()
            ? QString()
            : tr("%1. All other figures are of the plan's own world; what each change buys goes over the scenarios.")
                  .arg(world));
    m_world->setVisible(!world.isEmpty());
}

} // namespace trainyard
