#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// "Fit this model": the steps of the memory ladder that make a plan fit, each in a sentence, and a button that adopts
// them all. GUI thread.

#include "models/memory_advice.h"

#include <QWidget>

class QVBoxLayout;

namespace trainyard {

class HoverButton;
class TextLine;

class FitSteps : public QWidget {
    Q_OBJECT
public:
    explicit FitSteps(QWidget *parent = nullptr);

    /// Hidden where there is nothing to fit. `isApplicable`: the advice is of the document's plan. `isWanted`: that
    /// plan does not fit, so that steps are on their way where there are none yet.
    void setAdvice(const MemoryAdvicePtr &advice, bool isApplicable, bool isWanted);
    [[nodiscard]] HoverButton *adoptButton() const { return m_adopt; }

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);
    void editCancelled();

private:
    void showSteps();

    MemoryAdvicePtr m_advice;
    TextLine *m_summary;
    QVBoxLayout *m_list;
    std::vector<TextLine *> m_steps;
    HoverButton *m_adopt;
};

} // namespace trainyard
