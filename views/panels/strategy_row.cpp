// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_row.h"

#include "views/panels/effect_combo.h"
#include "views/panels/effect_text.h"
#include "views/theme/switch_button.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLineEdit>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

QString text(const std::string &s) { return QString::fromStdString(s); }

} // namespace

StrategyRow::StrategyRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent)
    : QWidget(parent), m_entry(entry), m_group(QString::fromLatin1(entry.group)), m_explanation(explanation), m_name(new TextLine(name, Ink::Text, this)), m_effect(new TextLine({}, Ink::Muted, this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    m_name->setToolTip(explanation);
    layout->addWidget(m_name, 32);
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
    layout->addLayout(cell, 38);
    m_effect->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    layout->addWidget(m_effect, 30);
    setMinimumHeight(QFontMetrics(uiFont(-1)).height() + 9);
    for (int i = 0; i < layout->count(); ++i)
        if (QWidget *w = layout->itemAt(i)->widget())
            w->setSizePolicy(QSizePolicy::Ignored, w->sizePolicy().verticalPolicy());
    wire();
}

void StrategyRow::wire()
{
    if (m_list) {
        connect(m_list, &QComboBox::activated, this, &StrategyRow::choose);
        connect(m_list, &QComboBox::highlighted, this, &StrategyRow::preview);
        connect(m_list, &EffectCombo::popupHidden, this, &StrategyRow::previewEnded);
        if (m_list->lineEdit())
            connect(m_list->lineEdit(), &QLineEdit::editingFinished, this, &StrategyRow::takeTyped);
    } else {
        connect(m_switch, &QAbstractButton::toggled, this, [this] { choose(m_switch->isChecked() ? 1 : 0); });
    }
}

int StrategyRow::current() const
{
    const auto it = std::ranges::find(m_alternatives, true, &Alternative::isCurrent);
    return it == m_alternatives.end() ? -1 : int(it - m_alternatives.begin());
}

void StrategyRow::setAlternatives(std::vector<Alternative> alternatives)
{
    const bool same = isSameList(alternatives);
    m_alternatives = std::move(alternatives);   // the plans differ even where the labels do not
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

void StrategyRow::setEffects(const EffectTable *effects, bool stale)
{
    m_effect->setDimmed(stale);
    if (m_list) {
        for (int i = 0; i < int(m_alternatives.size()); ++i) {
            const Alternative &a = m_alternatives[i];
            const auto known = effects ? effects->strategies.find(a.id) : decltype(effects->strategies.find(a.id)){};
            if (effects && known != effects->strategies.end() && !a.isCurrent)
                m_list->setEffect(i, shortText(known->second, *effects), sentence(known->second, *effects));
            else if (a.plan)
                m_list->setEffect(i, {}, {});
        }
    }
    showEffect(effects);
}

void StrategyRow::showEffect(const EffectTable *effects)
{
    const Alternative *best = nullptr;
    const Effect *effect = nullptr;
    for (const Alternative &a : m_alternatives) {
        if (!effects || a.isCurrent || !a.plan)
            continue;
        const auto known = effects->strategies.find(a.id);
        if (known != effects->strategies.end() && (!effect || isBetter(known->second, *effect))) {
            best = &a;
            effect = &known->second;
        }
    }
    if (!effect) {
        m_effect->setText({});
        m_effect->setToolTip({});
        return;
    }
    EffectText shown = shortText(*effect, *effects);
    const QString value = text(best->label).section(QStringLiteral(" · "), 0, 0);
    if (!m_switch && (m_entry.isForUtilization || (m_entry.isForMemory && effect->iterationTime && effect->fits && effect->feasible)))
        shown.text = QStringLiteral("%1 %2").arg(value, shown.text);
    else if (!m_switch)
        shown = effectText(*effect, value);
    m_effect->setText(shown.text);
    m_effect->setShortText(effect->iterationTime && !effect->fits ? tr("does not fit") : shortText(*effect, *effects).text);
    m_effect->setInk(shown.ink);
    m_effect->setToolTip(QStringLiteral("%1. %2").arg(text(best->sentence), sentence(*effect, *effects)));
}

EffectText StrategyRow::shortText(const Effect &effect, const EffectTable &effects) const
{
    if (m_entry.isForMemory)
        return memoryText(effect, effects.memoryBytes);
    return m_entry.isForUtilization ? utilizationText(effect, effects.utilization) : effectText(effect);
}

QString StrategyRow::sentence(const Effect &effect, const EffectTable &effects) const
{
    const QString iteration = effectSentence(effect, effects.iterationTime);
    return m_entry.isForUtilization ? QStringList{utilizationSentence(effect, effects.utilization), iteration}.join(u' ').trimmed() : iteration;
}

/// Better is: feasible before infeasible, then the shorter iteration, or the busier GPUs where that is what it is for.
bool StrategyRow::isBetter(const Effect &a, const Effect &b) const
{
    if (a.feasible != b.feasible)
        return a.feasible;
    if (m_entry.isForUtilization)
        return a.utilization.value_or(0) > b.utilization.value_or(0);
    return a.iterationTime.value_or(1e300) < b.iterationTime.value_or(1e300);
}

void StrategyRow::choose(int index)
{
    if (m_filling || index < 0 || index >= int(m_alternatives.size()))
        return;
    const Alternative chosenOne = m_alternatives[index];   // the answer to the signal replaces the list
    if (chosenOne.plan && !chosenOne.isCurrent)
        Q_EMIT chosen(chosenOne.plan, text(chosenOne.sentence));
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
    m_list->setEditText(m_list->itemText(now));   // until the plan says otherwise
    if (isNumber)
        Q_EMIT typed(number);
}

void StrategyRow::preview(int index)
{
    if (index < 0 || index >= int(m_alternatives.size()) || !m_alternatives[index].plan)
        return;
    Q_EMIT previewed(m_alternatives[index].plan, text(m_alternatives[index].sentence));
}

} // namespace trainyard
