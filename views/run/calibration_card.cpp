// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/calibration_card.h"

#include "models/text/format.h"
#include "views/parts/panel_parts.h"
#include "views/run/factor_row.h"
#include "views/run/sentence_list.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QPushButton>

#include <algorithm>

namespace trainyard {

namespace {

QWidget *titleRow(QWidget *parent)
{
    auto *row = new QWidget(parent);
    auto *layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    const auto add = [&](const QString &text, int width) {
        auto *line = new TextLine(text, Ink::Faint, row);
        line->setFont(uiFont(-1));
        if (width > 0)
            line->setFixedWidth(width);
        layout->addWidget(line, width > 0 ? 0 : 1);
    };
    add(CalibrationCard::tr("Factor"), 0);
    add(CalibrationCard::tr("Value"), FactorRow::kValue);
    add(CalibrationCard::tr("Rests on"), FactorRow::kBasis);
    add(CalibrationCard::tr("Steps off by"), FactorRow::kErrors);
    layout->addSpacing(FactorRow::kButton + Theme::kGap);
    return row;
}

} // namespace

CalibrationCard::CalibrationCard(RunCalibration &calibration, Shows shows, QWidget *parent)
    : QWidget(parent)
    , learn(new QPushButton(this))
    , acceptAll(new QPushButton(tr("Accept all"), this))
    , notes(new SentenceList(Ink::Muted))
    , m_calibration(calibration)
    , m_shows(shows)
    , m_plan(std::make_shared<const Plan>())
    , m_summary(new TextLine({}, Ink::Text, this))
    , m_outdated(new TextLine(
          tr("Learned under an earlier state of the plan: the factors hold for the same hardware and software."),
          Ink::Muted, this))
    , m_titles(titleRow(this))
    , m_keptTitle(new SectionTitle(shows == Shows::PlanOnly ? tr("What this plan has learned from runs")
                                                            : tr("In the plan, from other recordings")))
    , m_offeredPlace(new QVBoxLayout)
    , m_keptPlace(new QVBoxLayout)
{
    setAccessibleName(tr("What the run teaches"));
    arrange();
    connect(learn, &QPushButton::clicked, this, [this] {
        if (m_calibration.isFitting())
            m_calibration.cancel();
        else
            m_calibration.start();
    });
    connect(acceptAll, &QPushButton::clicked, this, [this] {
        if (const auto edit = allTaken(*m_plan, *m_calibration.proposal(), m_calibration.catalogue()))
            emit editCommitted(edit.plan, edit.text);
    });
    connect(&calibration, &RunCalibration::fittingChanged, this, &CalibrationCard::refresh);
    connect(&calibration, &RunCalibration::proposalChanged, this, &CalibrationCard::refresh);
    connect(&calibration, &RunCalibration::canStartChanged, this, &CalibrationCard::refresh);
    refresh();
}

void CalibrationCard::arrange()
{
    auto *column = panelLayout(this);
    column->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    m_summary->setWrapped(true);
    m_outdated->setWrapped(true);
    m_outdated->setFont(uiFont(-1));
    learn->setProperty("isPrimary", true);
    head->addWidget(m_summary, 1);
    head->addWidget(acceptAll, 0, Qt::AlignTop);
    head->addWidget(learn, 0, Qt::AlignTop);
    column->addLayout(head);
    column->addWidget(m_outdated);
    column->addWidget(m_titles);
    for (QVBoxLayout *place : { m_offeredPlace, m_keptPlace })
        place->setSpacing(0);
    column->addLayout(m_offeredPlace);
    column->addWidget(notes);
    column->addWidget(m_keptTitle);
    column->addLayout(m_keptPlace);
    column->addStretch(1);
    acceptAll->setToolTip(tr("Takes every factor that is not refused. Undo takes them out again."));
}

void CalibrationCard::setPlan(const PlanPtr &plan)
{
    m_plan = plan ? plan : std::make_shared<const Plan>();
    refresh();
}

QString CalibrationCard::summary() const
{
    return m_summary->text();
}

QString CalibrationCard::summaryText() const
{
    if (m_calibration.isFitting())
        return tr("Fitting kernels, links and the host to the run…");
    if (!m_calibration.failure().isEmpty())
        return tr("Nothing was learned: %1.").arg(m_calibration.failure());
    const ProposalPtr &proposal = m_calibration.proposal();
    if (!proposal)
        return tr("How fast the kernels, links and hosts of this run really are, beside what the plan assumes. Every "
                  "figure is judged on steps that its fit has not seen. Nothing changes until you accept it.");
    const auto usable = std::ranges::count_if(proposal->factors, [](const auto &one) { return one.refused.empty(); });
    if (usable == 0)
        return tr("The run teaches nothing that may be taken.");
    if (proposal->stepsHeldOut == 0)
        return tr("%1 to take. No step was held out to judge them.").arg(countOf(usable, tr("factor"), tr("factors")));
    if (const std::string farther = fartherText(*proposal, proposal->errorAfter); !farther.empty())
        return QString::fromStdString(farther) + QStringLiteral(". ")
            + tr("That is with all of these accepted, judged on %1 that no fit has seen.")
                  .arg(countOf(proposal->stepsHeldOut, tr("step"), tr("steps")));
    return tr("Predicted steps lie %1 off the %2 that no fit has seen; with all of these accepted, %3.")
        .arg(formatPercent(proposal->errorBefore), countOf(proposal->stepsHeldOut, tr("step"), tr("steps")),
            formatPercent(proposal->errorAfter));
}

void CalibrationCard::refresh()
{
    const bool isOfRun = m_shows == Shows::Everything, isFitting = m_calibration.isFitting();
    const ProposalPtr &proposal = m_calibration.proposal();
    for (QWidget *widget : { static_cast<QWidget *>(m_summary), static_cast<QWidget *>(learn) })
        widget->setVisible(isOfRun);
    m_summary->setText(summaryText());
    const bool isFarther = proposal && !isFitting && !fartherText(*proposal, proposal->errorAfter).empty();
    m_summary->setInk(m_calibration.failure().isEmpty() && !isFarther ? Ink::Text : Ink::Warning);
    learn->setText(isFitting ? tr("Cancel") : proposal ? tr("Learn again") : tr("Learn from this run"));
    learn->setEnabled(isFitting || m_calibration.canStart());
    learn->setToolTip(learn->isEnabled() ? QString() : tr("It needs a run and a plan that can be evaluated."));
    acceptAll->setVisible(isOfRun && !isFitting && proposal && allTaken(*m_plan, *proposal, m_calibration.catalogue()));
    QStringList remarks;
    if (isOfRun && proposal)
        for (const std::string &note : proposal->notes)
            remarks << QString::fromStdString(note) + (note.ends_with('.') ? QString() : QStringLiteral("."));
    notes->setSentences(remarks);
    bool isOutdated = false;
    if (const PlanPtr fitted = m_calibration.fittedPlan(); isOfRun && fitted) {
        Plan then = *fitted, now = *m_plan;
        then.calibration = now.calibration = {};
        isOutdated = !(then == now);
    }
    m_outdated->setVisible(isOutdated);
    showRows();
}

void CalibrationCard::showRows()
{
    m_rows = calibrationRows(
        *m_plan, m_shows == Shows::Everything ? m_calibration.proposal() : nullptr, m_calibration.catalogue());
    std::size_t offered = 0, kept = 0;
    const auto show = [this](std::vector<FactorRow *> &all, QVBoxLayout *into, std::size_t at, const auto &row) {
        while (all.size() <= at) {
            auto *made = all.emplace_back(new FactorRow(this));
            into->addWidget(made);
            connect(made, &FactorRow::accepted, this, [this](const std::string &id) {
                if (const auto edit = taken(*m_plan, *m_calibration.proposal(), id, m_calibration.catalogue()))
                    emit editCommitted(edit.plan, edit.text);
            });
            connect(made, &FactorRow::removed, this, [this](const std::string &id) {
                if (const auto edit = trainyard::removed(*m_plan, id, m_calibration.catalogue()))
                    emit editCommitted(edit.plan, edit.text);
            });
        }
        all[at]->setRow(row);
        all[at]->show();
    };
    for (const CalibrationRow &row : m_rows) {
        if (row.state == FactorState::Kept)
            show(m_kept, m_keptPlace, kept++, row);
        else
            show(m_offered, m_offeredPlace, offered++, row);
    }
    for (std::size_t i = offered; i < m_offered.size(); ++i)
        m_offered[i]->hide();
    for (std::size_t i = kept; i < m_kept.size(); ++i)
        m_kept[i]->hide();
    m_titles->setVisible(offered > 0);
    m_keptTitle->setVisible(kept > 0);
}

FactorRow *CalibrationCard::row(const std::string &id) const
{
    for (const auto *all : { &m_offered, &m_kept })
        for (FactorRow *one : *all)
            if (!one->isHidden() && one->row().id == id)
                return one;
    return nullptr;
}

} // namespace trainyard
