#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One strategy: name, control (a list, or a switch where there are two values "off" and "on"), and at the right the
// effect of the best other value. The values are the alternatives of one group. GUI thread.

#include "core/evaluate/alternatives.h"
#include "models/effects.h"

#include <QWidget>

namespace trainyard {

class EffectCombo;
class TextLine;
class SwitchButton;

class StrategyRow : public QWidget {
    Q_OBJECT
public:
    enum class Control { List, Switch };
    StrategyRow(const QString &group, const QString &name, const QString &explanation, Control control, QWidget *parent = nullptr);

    /// The values, current one included; `reached` is what "auto" came to ("8"), shown behind it.
    void setAlternatives(std::vector<Alternative> alternatives, const QString &reached);
    void setEffects(const EffectTable *effects, bool stale);
    [[nodiscard]] const QString &group() const { return m_group; }
    [[nodiscard]] const std::vector<Alternative> &alternatives() const { return m_alternatives; }
    [[nodiscard]] EffectCombo *list() const { return m_list; }         // nullptr for a switch
    [[nodiscard]] SwitchButton *toggle() const { return m_switch; }    // nullptr for a list
    [[nodiscard]] TextLine *effectLine() const { return m_effect; }

Q_SIGNALS:
    void chosen(trainyard::PlanPtr next, QString text);
    void previewed(trainyard::PlanPtr next, QString text);
    void previewEnded();

private:
    void wire();
    void choose(int index);
    void preview(int index);
    [[nodiscard]] int current() const;
    [[nodiscard]] bool isSameList(const std::vector<Alternative> &other, const QString &reached) const;
    void fillControl();
    void showEffect(const EffectTable *effects);

    QString m_group, m_explanation, m_reached;
    std::vector<Alternative> m_alternatives;
    TextLine *m_name, *m_effect;
    EffectCombo *m_list = nullptr;
    SwitchButton *m_switch = nullptr;
    bool m_filling = false;
};

} // namespace trainyard
