// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/what_if_list.h"

#include "models/live_words.h"
#include "views/export/panel_menu.h"
#include "views/live/live_row.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>

#include <algorithm>

namespace trainyard {

namespace {

/// What undo calls it once it is adopted.
QString trialText(const watch::WhatIf &asked)
{
    return QString::fromStdString(asked.change.empty() ? asked.question : asked.change);
}

} // namespace

WhatIfList::WhatIfList(LiveDocument &live, QWidget *parent)
    : QWidget(parent)
    , ask(new QPushButton(tr("Ask what if"), this))
    , m_live(live)
    , m_place(new QVBoxLayout)
    , m_summary(new TextLine({}, Ink::Muted, this))
{
    setAccessibleName(tr("What if"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    m_summary->setFont(uiFont(-1));
    m_summary->setWrapped(true);
    head->addWidget(m_summary, 1);
    head->addWidget(ask, 0, Qt::AlignTop);
    column->addLayout(head);
    m_place->setSpacing(0);
    column->addLayout(m_place);
    setPanelTable(this, [this] { return toTsv(); });
    connect(ask, &QPushButton::clicked, &live, &LiveDocument::askWhatIf);
    connect(&live, &LiveDocument::whatIfsChanged, this, &WhatIfList::refresh);
    connect(&live, &LiveDocument::stepsChanged, this, &WhatIfList::showAsk);
    refresh();
}

void WhatIfList::showAsk()
{
    const LiveWhatIfs &questions = m_live.questions();
    ask->setEnabled(m_live.canAskWhatIf() && !questions.isAsking());
    ask->setText(questions.all().empty() ? tr("Ask what if") : tr("Ask again"));
    ask->setToolTip(m_live.canAskWhatIf() ? tr("Evaluates the plan as it is measured now, without a link, a node or a "
                                               "datacenter, and moved.")
                                          : tr("It needs steps of a run under its plan, one that can be evaluated."));
    if (!m_live.otherJob().isEmpty())
        m_summary->setText(tr("The plan is not that of this run, so nothing can be asked of it: open the run's plan."));
    else if (!m_live.canAskWhatIf())
        m_summary->setText(tr("What if the link stays like this, or is lost? Asked once steps lie under the plan."));
    else if (questions.isAsking())
        m_summary->setText(tr("Evaluating the plans…"));
    else if (questions.step() < 0)
        m_summary->setText(tr("What if the link stays like this, a node is lost, or the job moves now? Each question "
                              "is a plan, evaluated like any other."));
    else
        m_summary->setText(tr("As measured at step %L1.").arg(qlonglong(questions.step())));
}

void WhatIfList::refresh()
{
    const std::vector<LiveWhatIf> &all = m_live.whatIfs();
    while (m_rows.size() < all.size()) {
        const std::size_t at = m_rows.size();
        auto *row = new LiveRow(this);
        const Row made { row, row->addButton(tr("Try this plan")), row->addButton(tr("Open as new plan")) };
        made.tryIt->setToolTip(tr("Shows it in the window. The plan stays as it is until it is adopted."));
        made.openIt->setToolTip(tr("Opens it as an untitled plan, with the run under it."));
        m_rows.push_back(made);
        m_place->addWidget(row);
        connect(made.tryIt, &QPushButton::clicked, this, [this, at] {
            const std::vector<LiveWhatIf> &now = m_live.whatIfs();
            if (at < now.size() && now[at].asked.plan)
                emit tried(now[at].asked.plan, trialText(now[at].asked));
        });
        connect(made.openIt, &QPushButton::clicked, this, [this, at] {
            const std::vector<LiveWhatIf> &now = m_live.whatIfs();
            if (at < now.size() && now[at].asked.plan)
                emit planRequested(now[at].asked.plan);
        });
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i].row->setVisible(i < all.size());
        if (i < all.size())
            showRow(m_rows[i], all[i]);
    }
    showAsk();
}

void WhatIfList::showRow(const Row &row, const LiveWhatIf &one)
{
    const QString question = QString::fromStdString(one.asked.question);
    QString note = QString::fromStdString(one.asked.change);
    if (one.asked.plan && !one.asked.why.empty())
        note += (note.isEmpty() ? QString() : QStringLiteral(". ")) + QString::fromStdString(one.asked.why);
    row.row->setWords(question, note, LiveRow::Mark::Question);
    row.row->setAnswer(answerText(one), one.answer ? Ink::Text : Ink::Muted);
    for (QPushButton *button : { row.tryIt, row.openIt }) {
        button->setVisible(one.asked.plan != nullptr);
        button->setAccessibleName(QStringLiteral("%1: %2").arg(button->text(), question));
    }
}

std::vector<WhatIfList::Row> WhatIfList::rows() const
{
    std::vector<Row> shown;
    std::ranges::copy_if(m_rows, std::back_inserter(shown), [](const Row &one) { return !one.row->isHidden(); });
    return shown;
}

QString WhatIfList::summary() const
{
    return m_summary->text();
}

QString WhatIfList::toTsv() const
{
    return whatIfsTsv(m_live.whatIfs());
}

} // namespace trainyard
