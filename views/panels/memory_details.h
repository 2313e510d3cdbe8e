#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What fills the GPU of one stage, largest part first, against what it holds; what activation offload does and costs;
// and what to do about it: the steps that make the plan fit, above all else, or headroom suggestions. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"
#include "models/memory_advice.h"
#include "models/shown.h"

#include <QWidget>

class QComboBox;
class QVBoxLayout;

namespace trainyard {

class FactTable;
class FitSteps;
class MemoryParts;
class PartRow;
class SectionTitle;
class TextLine;

class MemoryDetails : public QWidget {
    Q_OBJECT
public:
    explicit MemoryDetails(QWidget *parent = nullptr);

    /// the document's: advice on another plan cannot be applied
    void setShown(const Shown &shown);
    void setAdvice(MemoryAdvicePtr advice);
    /// -1: the fullest
    void setStage(int stage);
    /// what fills the GPU is of an older plan
    void setStale(bool isStale);
    /// the window shows another plan than the one that is advised on
    void setOutdated(bool isOutdated);

    /// What to do about the memory of the plan as it is: the steps that make it fit, or headroom suggestions.
    [[nodiscard]] QWidget *advice() const;
    [[nodiscard]] FitSteps *fitSteps() const { return m_fit; }
    [[nodiscard]] const std::vector<PartRow *> &offers() const { return m_offers; }

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    /// the pointer rests on a button
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();
    /// whether anyone can see it
    void watched(bool isWatched);

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void refresh();
    void showAdvice();
    void showOffers(bool isApplicable);
    /// as evaluated; true where nothing is known
    [[nodiscard]] bool fits() const;

    PlanPtr m_plan;
    EvaluationPtr m_evaluation;
    MemoryAdvicePtr m_advice;
    int m_stage = -1;
    bool m_isOutdated = false;
    QComboBox *m_stages;
    MemoryParts *m_parts;
    FitSteps *m_fit;
    SectionTitle *m_offloadTitle, *m_stepTitle, *m_buysTitle;
    FactTable *m_offload, *m_step;
    TextLine *m_noOffers;
    QVBoxLayout *m_list;
    std::vector<PartRow *> m_offers;
};

} // namespace trainyard
