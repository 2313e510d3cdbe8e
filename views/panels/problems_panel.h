#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What makes the plan infeasible or wasteful, each with its fixes as buttons; otherwise how far the prediction is to be
// trusted. GUI thread.

#include "core/base/error.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "models/effects.h"
#include "models/shown.h"

#include <QWidget>

class QVBoxLayout;

namespace trainyard {

class TextLine;

class ProblemsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsPanel(QWidget *parent = nullptr);

    /// What each fix would do, as far as it is known.
    void setEffects(EffectTablePtr effects);
    /// the document's: fixes of another plan cannot be applied
    void setShown(const Shown &shown);
    /// The window shows another plan than the one whose problems are listed.
    void setOutdated(bool isOutdated);
    /// A line for each problem and each fix.
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    /// the pointer rests on a fix
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();

private:
    void list(const std::vector<Problem> &problems, const Confidence &confidence, std::optional<double> iteration);
    QWidget *sentenceLine(int kind, const QString &text);
    QWidget *fixLine(const Fix &fix);
    void refresh();
    void showEffects();
    [[nodiscard]] bool areEffectsOfPlan() const;
    [[nodiscard]] bool bringsMoreFixes() const;
    [[nodiscard]] bool canFix() const;
    void endPreview();

    struct FixLine {
        PlanPtr plan;
        QWidget *button;
        TextLine *change, *because;
    };
    /// those that are listed
    std::vector<FixLine> m_fixes;

    PlanPtr m_plan;
    EffectTablePtr m_effects;
    EvaluationPtr m_evaluation;
    Errors m_errors;
    bool m_isOutdated = false;
    /// the pointer rests on a fix: its own effect must not take the button away
    bool m_previewing = false;
    QVBoxLayout *m_list;
};

} // namespace trainyard
