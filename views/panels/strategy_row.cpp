// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_row.h"

#include "core/facts/plan/key_list.h"
#include "models/plan_step.h"
#include "models/text/format.h"
#include "views/panels/effect_columns.h"
#include "views/panels/effect_combo.h"
#include "views/panels/effect_text.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLineEdit>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace trainyard {

namespace {

QString text(const std::string &s)
{
    return QString::fromStdString(s);
}

} // namespace

StrategyRow::StrategyRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent)
    : QWidget(parent)
    , m_entry(entry)
    , m_group(QString::fromStdString(entry.group))
    , m_explanation(explanation)
    , m_name(new TextLine(name, Ink::Text, this))
    , m_effect(new EffectLine(this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    m_name->setToolTip(explanation);
    layout->addWidget(m_name, kNameShare);
    auto *cell = new QHBoxLayout;
    if (entry.control != Control::Switch) {
        m_list = new EffectCombo(this);
        m_list->setAccessibleName(name.trimmed());
        if (entry.control == Control::Number)
            m_list->letType();
        cell->addWidget(m_list);
    } else {
        m_switch = new SwitchButton(this);
        m_switch->setAccessibleName(name.trimmed());
        cell->addWidget(m_switch);
        cell->addStretch();
    }
    layout->addLayout(cell, kControlShare);
    layout->addWidget(m_effect, kEffectShare);
    setMinimumHeight(QFontMetrics(uiFont(-1)).height() + 9);
    for (int i = 0; i < layout->count(); ++i)
        if (QWidget *w = layout->itemAt(i)->widget(); w && w != m_effect)
            w->setSizePolicy(QSizePolicy::Ignored, w->sizePolicy().verticalPolicy());
    wire();
}

void StrategyRow::wire()
{
    if (m_list) {
        connect(m_list, &QComboBox::activated, this, &StrategyRow::choose);
        connect(m_list, &QComboBox::highlighted, this, &StrategyRow::preview);
        connect(m_list, &EffectCombo::popupHidden, this, &StrategyRow::endPreview);
        if (m_list->lineEdit())
            connect(m_list->lineEdit(), &QLineEdit::editingFinished, this, &StrategyRow::takeTyped);
    } else {
        connect(m_switch, &QAbstractButton::toggled, this, [this] { choose(m_switch->isChecked() ? 1 : 0); });
        m_switch->installEventFilter(this);
    }
}

/// The pointer on a switch tries the other value, as a highlighted value of a list is tried.
bool StrategyRow::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Enter && m_switch->isEnabled())
        preview(m_switch->isChecked() ? 0 : 1);
    else if (event->type() == QEvent::Leave)
        endPreview();
    return QWidget::eventFilter(watched, event);
}

int StrategyRow::current() const
{
    const auto it = std::ranges::find(m_alternatives, true, &Alternative::isCurrent);
    return it == m_alternatives.end() ? -1 : int(it - m_alternatives.begin());
}

/// The value as an edit, which starts from the plan that is edited.
Alternative StrategyRow::own(int index) const
{
    const Alternative &shown = m_alternatives[std::size_t(index)];
    const auto it = std::ranges::find(m_own, shown.id, &Alternative::id);
    return m_own.empty() ? shown : it == m_own.end() ? Alternative {} : *it;
}

Alternative StrategyRow::offered(int index) const
{
    Alternative taken = own(index);
    if (!taken.plan)
        return taken;
    if (m_triedFrom && *m_triedFrom == *taken.plan)
        taken.plan = m_tried; // also where another is offered by now
    else if (const auto offered = m_offered.find(taken.id); offered != m_offered.end())
        taken.plan = offered->second;
    return taken;
}

void StrategyRow::endPreview()
{
    m_triedFrom = m_tried = nullptr;
    Q_EMIT previewEnded();
}

void StrategyRow::setAlternatives(std::vector<Alternative> alternatives, std::vector<Alternative> own)
{
    m_own = std::move(own);
    const bool same = isSameList(alternatives);
    m_alternatives = std::move(alternatives); // the plans differ even where the labels do not
    if (!same)
        fillControl();
}

void StrategyRow::setReached(const QString &reached)
{
    if (std::exchange(m_reached, reached) != reached)
        fillControl();
}

bool StrategyRow::isSameList(const std::vector<Alternative> &other) const
{
    return std::ranges::equal(other, m_alternatives, [](const Alternative &a, const Alternative &b) {
        return a.id == b.id && a.isCurrent == b.isCurrent && a.blockedBecause == b.blockedBecause;
    });
}

void StrategyRow::fillControl()
{
    m_filling = true;
    const int now = current();
    bool canChange = false;
    QString why;
    for (const Alternative &a : m_alternatives) {
        canChange = canChange || (!a.isCurrent && a.plan);
        if (!a.isCurrent && !a.plan && why.isEmpty())
            why = text(a.blockedBecause);
    }
    if (canChange)
        why.clear();
    else if (!why.isEmpty())
        why[0] = why[0].toUpper();
    if (m_list) {
        m_list->clear();
        for (const Alternative &a : m_alternatives) {
            QString label = text(a.label);
            if (a.isCurrent && !m_reached.isEmpty())
                label += QStringLiteral(" (%1)").arg(m_reached);
            m_list->addValue(label, text(a.blockedBecause));
        }
        m_list->setCurrentIndex(now);
        m_list->setEnabled(canChange);
        m_list->setToolTip(canChange ? m_explanation : why + u'.');
    } else {
        m_switch->setChecked(now == 1);
        m_switch->setEnabled(canChange);
        m_switch->setToolTip(canChange ? m_explanation : why + u'.');
    }
    m_name->setEnabled(canChange);
    m_filling = false;
}

struct StrategyRow::Value {
    const Alternative *alternative;
    const Effect *effect;
    bool changesTraining;
    bool isBound; // and the plan is none: no recommendation
    std::optional<PinnedData> pinned; // why it is not possible
};

std::optional<StrategyRow::Value> StrategyRow::value(const Alternative &alternative, const EffectTable *effects) const
{
    if (!effects || !effects->plan || alternative.isCurrent || !alternative.plan)
        return std::nullopt;
    const auto known = effects->strategies.find(alternative.id);
    if (known == effects->strategies.end())
        return std::nullopt;
    const Effect &effect = known->second;
    return Value { &alternative, &effect, changesTraining(*effects->plan, *alternative.plan),
        isBound(*alternative.plan) && !isBound(*effects->plan),
        effect.iterationTime ? std::nullopt : pinnedData(*alternative.plan) };
}

void StrategyRow::setEffects(const EffectTable *effects, bool stale)
{
    m_effect->setDimmed(stale);
    m_offered.clear();
    if (effects && !stale)
        for (const Alternative &a : m_alternatives)
            if (const auto known = effects->strategies.find(a.id);
                known != effects->strategies.end() && known->second.offered)
                m_offered[a.id] = known->second.offered;
    for (int i = 0; m_list && i < int(m_alternatives.size()); ++i) {
        const Alternative &a = m_alternatives[std::size_t(i)];
        if (const auto known = value(a, effects)) {
            m_list->setEffect(i, words(*known, *effects), sentence(*known, *effects));
        } else {
            m_list->setEffect(i, {}, {}); // the reason why it is blocked stays as its tooltip
        }
    }
    showEffect(effects);
}

void StrategyRow::showEffect(const EffectTable *effects)
{
    std::optional<Value> best;
    for (const Alternative &a : m_alternatives) {
        const auto known = value(a, effects);
        if (known && !known->isBound && (!best || isBetter(*known, *best, *effects)))
            best = known;
    }
    if (!best) {
        const EffectText blocked = blockedText(m_alternatives);
        m_effect->setEffect({}, blocked);
        m_effect->setToolTip(blocked.text.isEmpty() ? QString() : m_list ? m_list->toolTip() : m_switch->toolTip());
        return;
    }
    const bool isBest = !m_switch && best->effect->notCompared.empty(); // else which of them is told by nothing
    m_effect->setEffect(!isBest ? QString() : text(best->alternative->label).section(QStringLiteral(" · "), 0, 0),
        words(*best, *effects));
    m_effect->setToolTip(QStringLiteral("%1. %2").arg(text(best->alternative->sentence), sentence(*best, *effects)));
}

EffectText StrategyRow::words(const Value &value, const EffectTable &effects) const
{
    EffectText shown = effectText(*value.effect, effects, m_entry.focus);
    if (value.pinned)
        shown.text = tr("not with Data %1").arg(value.pinned->replicas);
    if (value.changesTraining || value.isBound)
        for (Ink *ink : { &shown.ink, &shown.columns.timeInk, &shown.columns.memoryInk })
            *ink = *ink == Ink::Good ? Ink::Muted : *ink;
    if (value.changesTraining)
        shown.addMark(QStringLiteral("≠"));
    return shown;
}

QString StrategyRow::sentence(const Value &value, const EffectTable &effects) const
{
    QStringList sentences;
    if (value.pinned)
        sentences << tr("Data is set to %1, which would need %2 GPUs; there are %3. Set Data to auto or to %4 at most.")
                         .arg(value.pinned->replicas)
                         .arg(value.pinned->needed)
                         .arg(value.pinned->there)
                         .arg(value.pinned->mostReplicas);
    if (m_entry.focus == EffectFocus::Utilization)
        sentences << utilizationSentence(*value.effect, effects.utilization);
    if (value.effect->offered && value.effect->room)
        sentences << tr("Room for %1 requests/s; it begins with %2.")
                         .arg(formatCount(*value.effect->room),
                             formatCount(value.effect->offered->bubbleFill.requestsPerSecond));
    sentences << effectSentence(*value.effect, effects.iterationTime);
    if (value.changesTraining)
        sentences << tr("≠ It affects convergence.");
    if (value.isBound)
        sentences << tr("A bound without overheads, not software to be had.");
    sentences.removeAll(QString());
    return sentences.join(u' ');
}

/// Better is: what can be had, and fits; what leaves training as it is; what gains at all; then the shorter iteration
/// (the busier GPUs where that is what it is for; the smaller memory where neither fits), and the smaller memory where
/// it is as long.
bool StrategyRow::isBetter(const Value &a, const Value &b, const EffectTable &effects) const
{
    const auto rank = [&](const Value &v) {
        const Effect &effect = *v.effect;
        const bool isOverfull = effect.iterationTime && !effect.fits && !effects.fits;
        const int reach = effect.feasible ? 0 : isOverfull ? 1 : effect.iterationTime ? 2 : 3;
        const int time = directionOfTime(effect),
                  bytes =
                      m_entry.focus == EffectFocus::Memory || !effects.fits ? directionOfMemory(effect, effects) : 0;
        const double seconds = effects.iterationTime && effect.change ? std::round(*effect.change / kNoChange)
                                                                      : effect.iterationTime.value_or(1e300);
        const double first = isOverfull                 ? effect.memoryBytes
            : m_entry.focus == EffectFocus::Utilization ? -effect.utilization.value_or(0)
                                                        : seconds;
        return std::tuple(
            reach, v.changesTraining, std::min(time, bytes) >= 0, first, isOverfull ? seconds : effect.memoryBytes);
    };
    return rank(a) < rank(b);
}

void StrategyRow::choose(int index)
{
    if (m_filling || index < 0 || index >= int(m_alternatives.size()))
        return;
    const Alternative chosenOne = offered(index); // the answer to the signal replaces the list
    if (chosenOne.plan && !chosenOne.isCurrent)
        Q_EMIT chosen(chosenOne.plan, text(chosenOne.sentence));
    else if (index != current())
        fillControl(); // nothing comes of it
}

/// What stands in the field: one of the values, a number of its own, or nothing that can be used.
void StrategyRow::takeTyped()
{
    const QString entered = m_list->lineEdit()->text().trimmed();
    const int now = current();
    if (m_filling || entered == m_list->itemText(now))
        return;
    for (int i = 0; i < int(m_alternatives.size()); ++i) {
        if (entered.compare(text(m_alternatives[std::size_t(i)].label), Qt::CaseInsensitive) == 0) {
            choose(i);
            return;
        }
    }
    bool isNumber = false;
    const int number = entered.section(u' ', 0, 0).toInt(&isNumber);
    m_list->setEditText(m_list->itemText(now)); // until the plan says otherwise
    if (isNumber)
        Q_EMIT typed(number);
}

void StrategyRow::preview(int index)
{
    if (index < 0 || index >= int(m_alternatives.size()))
        return;
    m_triedFrom = m_tried = nullptr;
    const Alternative tried = offered(index);
    if (tried.isCurrent || !tried.plan) { // nothing would change, or nothing can
        endPreview();
        return;
    }
    m_triedFrom = own(index).plan;
    m_tried = tried.plan;
    Q_EMIT previewed(tried.plan, text(tried.sentence));
}

} // namespace trainyard
