// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_panel.h"

#include "core/evaluation/advice/offered_rate.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/degrees.h"
#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/panels/effect_columns.h"
#include "views/panels/expert_text.h"
#include "views/panels/file_row.h"
#include "views/panels/fill_text.h"
#include "views/panels/number_row.h"
#include "views/panels/offload_text.h"
#include "views/panels/pin_button.h"
#include "views/panels/scroll_anchor.h"
#include "views/panels/strategy_row.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <map>
#include <utility>

namespace trainyard {

namespace {

/// A rate above this share of what would be offered is not worth an offer.
constexpr double kLeastOffer = 0.75;

/// What "auto" came to, behind the control's value.
QString reached(const std::string &group, const Plan &plan, const Evaluation *evaluation)
{
    if (!evaluation)
        return {};
    const auto is = [&](auto member) { return group == rowOf(member).group(); };
    const Layout &layout = evaluation->layout;
    if (is(&Parallelism::data) && !degreesOf(plan).data && layout.data > 0)
        return QString::number(layout.data);
    if (is(&Placement::mode) && plan.placement.mode == PlacementMode::Auto && plan.placement.stages.empty()
        && layout.data > 0 && plan.cluster.datacenters.size() > 1)
        return layout.mode == PlacementMode::DataAcross ? QObject::tr("data") : QObject::tr("pipeline");
    if (is(&WanStrategy::cell) && !plan.wan.cell && layout.data > 0)
        return QString::number(layout.cell.reached);
    if (is(&WanStrategy::tcpConnections) && !plan.wan.tcpConnections) {
        int most = 0;
        for (const WanLinkUse &use : evaluation->metrics.wanLinks)
            most = std::max(most, use.tcpConnections);
        return most > 0 ? QString::number(most) : QString();
    }
    if (const auto &experts = evaluation->metrics.experts; experts && layout.data > 0) {
        if (is(&MoeStrategy::dispatch) && plan.moe.dispatch == MoeDispatch::TrafficAware)
            return experts->chosen == MoeDispatch::Flat ? QObject::tr("flat") : QObject::tr("sliced");
        if (is(&MoeStrategy::overlapChunks) && !plan.moe.chunks(true) && !plan.moe.chunks(false))
            return experts->forwardChunks == experts->backwardChunks
                ? QString::number(experts->forwardChunks)
                : QObject::tr("%1, %2").arg(experts->forwardChunks).arg(experts->backwardChunks);
    }
    return {};
}

TextLine *factsLine(const char *name, QWidget *parent)
{
    auto *line = new TextLine({}, Ink::Muted, parent);
    line->setWrapped(true);
    line->setObjectName(QLatin1String(name));
    return line;
}

/// What a switch that is on comes to. While the plan is evaluated the words of the plan before stay for the moment.
void showFacts(TextLine &line, bool isOn, bool isOfThisPlan, const QStringList &facts)
{
    if (isOfThisPlan || !isOn)
        line.setText(isOn ? facts.join(u' ') : QString());
    line.setVisible(!line.text().isEmpty());
}

} // namespace

StrategyPanel::StrategyPanel(const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , m_catalogue(catalogue)
{
    setFont(uiFont(-1));
    setAccessibleName(tr("Strategies"));
    panelLayout(this)->setContentsMargins(Theme::kPad, 0, Theme::kPad, Theme::kGap);
    addRows();
}

void StrategyPanel::addRows()
{
    auto *area = new QScrollArea(this);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFocusPolicy(Qt::NoFocus); // a click on a control must not give it the focus instead
    area->viewport()->setAutoFillBackground(false);
    auto *content = new QWidget(area);
    content->setAutoFillBackground(false);
    auto *rows = new QVBoxLayout(content);
    rows->setContentsMargins(0, 0, 2, 0);
    rows->setSpacing(1);
    for (const StrategyEntry &entry : strategyEntries()) {
        if (entry.section) {
            const bool isFirst = m_sections.empty() || entry.row == &rowOf(&Plan::jobScheduler); // alone with jobs
            const QString note = entry.focus == EffectFocus::Memory ? tr("≠ affects convergence") : QString();
            m_sections.push_back({ isFirst ? new EffectHeading(tr(entry.section), note, content)
                                           : new SectionTitle(tr(entry.section), note, content),
                {} });
            rows->addWidget(m_sections.back().title);
        }
        if (entry.isAdvanced && !m_sections.back().more)
            rows->addWidget(m_sections.back().more = makeFold(content), 0, Qt::AlignLeft);
        QWidget *row = makeRow(entry, content);
        rows->addWidget(row);
        auto *pin = new PinButton(QString::fromUtf8(entry.row->key.title), row);
        connect(pin, &QAbstractButton::clicked, this,
            [this, path = entry.row->path](bool isPinned) { Q_EMIT pinToggled(path, isPinned); });
        m_pins.push_back({ entry.row->path, pin });
        m_sections.back().rows.push_back({ &entry, row });
        if (entry.row == &rowOf(&BubbleFill::enabled))
            addServed(*rows, content);
        else if (entry.row == &rowOf(&MemoryStrategy::activationOffload))
            rows->addWidget(m_offloaded = factsLine("offloadFacts", content));
        else if (entry.row == &rowOf(&MoeStrategy::pipelineBackward))
            rows->addWidget(m_exchanged = factsLine("expertFacts", content));
    }
    rows->addStretch(1);
    area->setWidget(content);
    m_anchor = new ScrollAnchor(area);
    static_cast<QVBoxLayout *>(layout())->addWidget(area, 1);
}

/// What is served, and an offer of more where bubbles have room for it.
void StrategyPanel::addServed(QVBoxLayout &rows, QWidget *parent)
{
    rows.addWidget(m_served = factsLine("fillFacts", parent));
    rows.addWidget(m_room = new QPushButton(parent), 0, Qt::AlignLeft);
    m_room->setFont(uiFont(-1));
    m_room->hide();
    connect(m_room, &QPushButton::clicked, this, [this] {
        if (m_offered)
            Q_EMIT editCommitted(m_offered, {});
    });
}

void StrategyPanel::showRoom(const Evaluation *evaluation)
{
    const bool isOwn = m_plan == m_shownPlan; // what is only tried is not edited on
    m_offered = evaluation && isOwn && m_plan->bubbleFill.enabled ? withOfferedRate(*evaluation) : nullptr;
    const double now = m_plan->bubbleFill.requestsPerSecond;
    if (m_offered && now > kLeastOffer * m_offered->bubbleFill.requestsPerSecond)
        m_offered = nullptr;
    m_room->setVisible(m_offered != nullptr);
    if (!m_offered)
        return;
    m_room->setText(tr("Room for %1 requests/s: offer %2")
                        .arg(formatCount(*evaluation->metrics.bubbleFill->saturationRequestsPerSecond),
                            formatCount(m_offered->bubbleFill.requestsPerSecond)));
    m_room->setToolTip(tr("Bubbles take no more than that; near it prompts wait long for their first token."));
}

QToolButton *StrategyPanel::makeFold(QWidget *parent)
{
    auto *fold = new QToolButton(parent);
    fold->setText(tr("Advanced"));
    fold->setToolTip(tr("Constants of the planner, which few plans change."));
    fold->setCheckable(true);
    fold->setAutoRaise(true);
    fold->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    fold->setArrowType(Qt::RightArrow);
    fold->setFont(uiFont(-1));
    connect(fold, &QToolButton::toggled, this, [this, fold](bool isOpen) {
        fold->setArrowType(isOpen ? Qt::DownArrow : Qt::RightArrow);
        if (m_plan)
            showWhatApplies();
    });
    return fold;
}

QWidget *StrategyPanel::makeRow(const StrategyEntry &entry, QWidget *parent)
{
    const Key &key = entry.row->key;
    const QString name = QString::fromUtf8(entry.isPart ? "  " : "") + QString::fromUtf8(key.title),
                  explanation = QString::fromUtf8(key.help);
    if (entry.control == StrategyEntry::Control::Field) {
        auto *row = new NumberRow(entry, name, explanation, parent);
        connect(row, &NumberRow::changed, this,
            [this, &entry](double value, int gesture) { setNumber(entry, value, gesture); });
        m_numbers.push_back(row);
        return row;
    }
    if (entry.control == StrategyEntry::Control::File) {
        auto *row = new FileRow(name, explanation, tr("Requests (*.csv)"), parent);
        connect(row, &FileRow::chosen, this, &StrategyPanel::setTrace);
        m_trace = row;
        return row;
    }
    auto *row = new StrategyRow(entry, name, explanation, parent);
    connect(row, &StrategyRow::chosen, this, &StrategyPanel::editCommitted);
    connect(row, &StrategyRow::previewed, this, &StrategyPanel::editPreviewed);
    connect(row, &StrategyRow::previewEnded, this, &StrategyPanel::editCancelled);
    connect(row, &StrategyRow::typed, this, [this, &entry](int number) { setKey(entry, number); });
    m_rows.push_back(row);
    return row;
}

void StrategyPanel::setNumber(const StrategyEntry &entry, double value, int gesture)
{
    if (!m_plan || entry.row->value(*m_plan).value_or(0) == value)
        return;
    Plan next = *m_plan;
    entry.row->set(next, entry.row->mayBeMissing && value <= 0 ? KeyValue() : KeyValue(value));
    m_plan = std::make_shared<const Plan>(std::move(next)); // the next step may come before the document answers
    if (gesture > 0)
        Q_EMIT editStepped(m_plan, QStringLiteral("%1 %2").arg(QString::fromStdString(entry.row->path)).arg(gesture));
    else
        Q_EMIT editCommitted(m_plan, {});
}

void StrategyPanel::setKey(const StrategyEntry &entry, int number)
{
    if (!m_plan)
        return;
    if (auto next = withKeySet(*m_plan, entry.row->path, std::to_string(number)))
        Q_EMIT editCommitted(std::make_shared<const Plan>(std::move(*next)), {});
}

void StrategyPanel::setTrace(const QString &path)
{
    if (!m_plan)
        return;
    Plan next = *m_plan;
    next.bubbleFill.trace = path.toStdString();
    next.bubbleFill.arrivals = Arrivals::Trace;
    Q_EMIT editCommitted(std::make_shared<const Plan>(std::move(next)), tr("Arrivals from %1").arg(fileText(path)));
}

void StrategyPanel::setShown(const Shown &shown)
{
    m_plan = shown.base;
    m_shownPlan = shown.plan;
    if (shown.isCurrent()) // until then the words of the plan before stay
        m_evaluation = shown.evaluation;
    rebuild();
}

void StrategyPanel::setEffects(EffectTablePtr effects)
{
    m_effects = std::move(effects);
    m_needsEffects = true;
    showEffects();
}

void StrategyPanel::setOutdated(bool isOutdated)
{
    if (std::exchange(m_isOutdated, isOutdated) == isOutdated)
        return;
    m_showsOld = isOutdated || (m_effects && m_effects->plan != m_plan);
    for (StrategyRow *row : m_rows)
        row->effectLine()->setDimmed(m_showsOld);
    m_served->setDimmed(isOutdated);
    m_offloaded->setDimmed(isOutdated);
    m_exchanged->setDimmed(isOutdated);
}

void StrategyPanel::showEffects()
{
    const bool isOld = m_isOutdated || (m_effects && m_effects->plan != m_plan);
    if (!std::exchange(m_needsEffects, false) && isOld == m_showsOld)
        return;
    m_showsOld = isOld;
    for (StrategyRow *row : m_rows)
        row->setEffects(m_effects.get(), isOld);
}

void StrategyPanel::rebuild()
{
    if (!m_plan)
        return;
    const Evaluation *evaluation = m_evaluation.get();
    const Plan &plan = *m_shownPlan;
    const auto modelOf = [evaluation](const Plan &of) -> const ModelSpec * {
        return evaluation && evaluation->plan && evaluation->plan->workload.model == of.workload.model
            ? &evaluation->model
            : nullptr;
    };
    const std::tuple listedFor(m_plan, m_shownPlan, modelOf(plan) != nullptr);
    if (std::exchange(m_listedFor, listedFor) != listedFor) {
        const auto byGroup = [&](const Plan &of) {
            std::map<std::string, std::vector<Alternative>> groups;
            for (Alternative &a : strategyAlternatives(of, m_catalogue, modelOf(of)))
                groups[a.group].push_back(std::move(a));
            return groups;
        };
        auto shown = byGroup(plan);
        auto own = m_plan == m_shownPlan ? std::map<std::string, std::vector<Alternative>>() : byGroup(*m_plan);
        m_needsEffects = true;
        for (StrategyRow *row : m_rows)
            row->setAlternatives(
                std::move(shown[row->group().toStdString()]), std::move(own[row->group().toStdString()]));
    }
    for (StrategyRow *row : m_rows)
        row->setReached(reached(row->group().toStdString(), plan, evaluation));
    showEffects();
    for (NumberRow *row : m_numbers)
        if (m_plan == m_shownPlan || !row->isAncestorOf(QApplication::focusWidget())) // what is typed stays
            row->setPlan(plan);
    m_trace->setFile(QString::fromStdString(plan.bubbleFill.trace));
    const bool isOfThis = evaluation && evaluation->plan == m_shownPlan;
    showFacts(*m_served, plan.bubbleFill.enabled, isOfThis, isOfThis ? fillFacts(evaluation->metrics) : QStringList());
    showRoom(isOfThis ? evaluation : nullptr);
    showFacts(*m_offloaded, activationsLeaveTo(plan.memory) != ActivationOffload::None, isOfThis,
        isOfThis ? offloadFacts(evaluation->metrics) : QStringList());
    const bool isSpread = plan.parallelism.expert * plan.parallelism.expertTensor > 1;
    showFacts(*m_exchanged, isSpread, isOfThis, isOfThis ? expertFacts(evaluation->metrics) : QStringList());
    showWhatApplies();
}

void StrategyPanel::showWhatApplies()
{
    for (const Section &section : m_sections) {
        bool any = false, anyFolded = false;
        const auto hasChoices = [](QWidget *row) {
            const auto *strategy = qobject_cast<const StrategyRow *>(row);
            return strategy && !strategy->alternatives().empty();
        };
        // Numbers alone are of no use where all there is to choose needs a model of another kind.
        const bool isForModel =
            std::ranges::any_of(section.rows, [&](const auto &shown) { return hasChoices(shown.second); });
        for (const auto &[entry, row] : section.rows) {
            const bool applies = isForModel && entry->row->applies(*m_shownPlan)
                && (hasChoices(row) || !qobject_cast<const StrategyRow *>(row));
            row->setVisible(applies && (!entry->isAdvanced || section.more->isChecked()));
            any = any || applies;
            anyFolded = anyFolded || (applies && entry->isAdvanced);
        }
        section.title->setVisible(any);
        if (section.more)
            section.more->setVisible(anyFolded);
    }
}

void StrategyPanel::scrollTo(const std::string &group)
{
    for (const Section &section : m_sections) {
        const bool isHere =
            std::ranges::any_of(section.rows, [&](const auto &entry) { return group == entry.first->group; });
        if (isHere)
            m_anchor->hold(section.title);
    }
}

void StrategyPanel::setPins(const std::set<std::string> &keys)
{
    for (const auto &[key, pin] : m_pins)
        pin->setChecked(keys.contains(key));
}

PinButton *StrategyPanel::pin(const std::string &key) const
{
    const auto it = std::ranges::find(m_pins, key, &std::pair<std::string, PinButton *>::first);
    return it == m_pins.end() ? nullptr : it->second;
}

std::string StrategyPanel::focusedKey() const
{
    const QWidget *focused = QApplication::focusWidget();
    for (const auto &[key, pin] : m_pins)
        if (focused && pin->parentWidget()->isAncestorOf(focused))
            return key;
    return {};
}

StrategyRow *StrategyPanel::row(const std::string &group) const
{
    const auto it =
        std::ranges::find_if(m_rows, [&](const StrategyRow *r) { return r->group().toStdString() == group; });
    return it == m_rows.end() ? nullptr : *it;
}

} // namespace trainyard
