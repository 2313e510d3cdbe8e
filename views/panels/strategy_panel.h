#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One control per strategy, grouped; beside each, what its best other value would do to the iteration, and in its list
// what every value would do. Choosing emits the next plan; highlighting a value previews it. GUI thread.

#include "core/catalogue/catalogue.h"
#include "core/evaluate/evaluation.h"
#include "models/effects.h"

#include <QWidget>

#include <vector>

namespace trainyard {

class StrategyRow;

class StrategyPanel : public QWidget {
    Q_OBJECT
public:
    explicit StrategyPanel(const Catalogue &catalogue, QWidget *parent = nullptr);

    void setPlan(PlanPtr plan);
    void setEvaluation(EvaluationPtr evaluation);   // what "auto" came to, and a model read from a file
    void setEffects(EffectTablePtr effects);
    [[nodiscard]] StrategyRow *row(const std::string &group) const;   // nullptr where the panel has none

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();

private:
    void addRows();
    void rebuild();

    const Catalogue &m_catalogue;
    PlanPtr m_plan;
    EvaluationPtr m_evaluation;
    EffectTablePtr m_effects;
    std::vector<StrategyRow *> m_rows;
};

} // namespace trainyard
