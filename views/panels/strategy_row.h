#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One strategy: name, control (a list, one that any number can be typed into, or a switch where there are two values
// "off" and "on"), and at the right the effect of the best other value, in columns. The values are the alternatives of
// one group; one that affects convergence has "≠" behind it and is not recommended in green. GUI thread.

#include "core/evaluation/advice/alternatives.h"
#include "models/effects.h"
#include "views/panels/effect_text.h"
#include "views/panels/strategy_entries.h"

#include <QWidget>

#include <map>

namespace trainyard {

class EffectCombo;
class EffectLine;
class TextLine;
class SwitchButton;

class StrategyRow : public QWidget {
    Q_OBJECT
public:
    using Control = StrategyEntry::Control;
    StrategyRow(const StrategyEntry &entry, const QString &name, const QString &explanation, QWidget *parent = nullptr);

    /// The values, current one included. `own`: the same values of the plan that edits start from, where the row shows
    /// another; what is tried or chosen is taken from there.
    void setAlternatives(std::vector<Alternative> alternatives, std::vector<Alternative> own = {});
    /// what "auto" came to ("8"), shown behind it
    void setReached(const QString &reached);
    void setEffects(const EffectTable *effects, bool stale);
    [[nodiscard]] const QString &group() const { return m_group; }
    [[nodiscard]] const std::vector<Alternative> &alternatives() const { return m_alternatives; }
    [[nodiscard]] EffectCombo *list() const { return m_list; } // nullptr for a switch
    [[nodiscard]] SwitchButton *toggle() const { return m_switch; } // nullptr for a list
    [[nodiscard]] EffectLine *effectLine() const { return m_effect; }

Q_SIGNALS:
    void chosen(trainyard::PlanPtr next, QString text);
    void previewed(trainyard::PlanPtr next, QString text);
    void previewEnded();
    /// one that the list may not have
    void typed(int number);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void wire();
    void choose(int index);
    void takeTyped();
    void preview(int index);
    [[nodiscard]] int current() const;
    [[nodiscard]] Alternative own(int index) const;
    [[nodiscard]] bool isSameList(const std::vector<Alternative> &other) const;
    void fillControl();
    void showEffect(const EffectTable *effects);
    /// one that can be chosen, with its effect
    struct Value;
    [[nodiscard]] std::optional<Value> value(const Alternative &alternative, const EffectTable *effects) const;
    [[nodiscard]] EffectText words(const Value &value, const EffectTable &effects) const;
    [[nodiscard]] QString sentence(const Value &value, const EffectTable &effects) const;
    [[nodiscard]] bool isBetter(const Value &a, const Value &b, const EffectTable &effects) const;

    const StrategyEntry &m_entry;
    QString m_group, m_explanation, m_reached;
    std::vector<Alternative> m_alternatives;
    /// of the plan that edits start from; empty where that is the one shown
    std::vector<Alternative> m_own;
    /// by Alternative::id, what choosing writes instead of the alternative's plan
    std::map<std::string, PlanPtr> m_offered;
    TextLine *m_name;
    EffectLine *m_effect;
    EffectCombo *m_list = nullptr;
    SwitchButton *m_switch = nullptr;
    bool m_filling = false;
};

} // namespace trainyard
