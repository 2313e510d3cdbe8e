#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where each second of the iteration goes, what the critical path is, what a better part would buy, and which GPUs do
// not pay. GUI thread.

#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "models/effects.h"
#include "models/shown.h"

#include <QWidget>

class QVBoxLayout;

namespace trainyard {

class BreakdownBar;
class PartRow;
class TextLine;

class WhyPanel : public QWidget {
    Q_OBJECT
public:
    explicit WhyPanel(QWidget *parent = nullptr);

    /// the document's: effects of another plan cannot be applied
    void setShown(const Shown &shown);
    void setEffects(EffectTablePtr effects);
    /// that the timeline points at
    void setChosen(std::vector<BreakdownPart> parts);
    /// where the time goes is of an older plan
    void setStale(bool stale);
    /// the window shows another plan than the one whose parts are listed
    void setOutdated(bool isOutdated);
    /// The parts of the iteration, then the better parts with their effects and reasons.
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    /// the pointer rests on an Apply button
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    /// Where their seconds are is to be shown; none: no longer.
    void partsChosen(const std::vector<trainyard::BreakdownPart> &parts);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void showParts();
    void showRows(std::vector<PartRow *> &rows, QVBoxLayout *list, const std::vector<RankedPart> &parts);

    PlanPtr m_plan;
    EvaluationPtr m_evaluation;
    EffectTablePtr m_effects;
    bool m_isOutdated = false;
    /// rows stay what the pointer was put on until it leaves
    bool m_isPreviewing = false;
    TextLine *m_heading, *m_path, *m_empty, *m_experts;
    BreakdownBar *m_bar;
    QVBoxLayout *m_list, *m_retiredList;
    QWidget *m_retiredTitle;
    std::vector<PartRow *> m_rows, m_retired;
};

} // namespace trainyard
