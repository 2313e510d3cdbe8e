#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's comparison for the plan that the document has: what each exchange with experts makes of the layer and the
// iteration, beside what is published, and over what it depends on. Works only while it is in sight. GUI thread.

#include "models/expert_study.h"
#include "views/panels/comparison_page.h"

#include <array>

namespace trainyard {

class AblationBars;
class ExpertPlot;
class StepLegend;

class ExpertsPage : public ComparisonPage {
    Q_OBJECT
public:
    explicit ExpertsPage(const Catalogue &catalogue, QWidget *parent = nullptr);

    [[nodiscard]] ExpertStudy &study() { return m_study; }
    [[nodiscard]] const ExpertComparison *comparison() const { return m_comparison.get(); }

    AblationBars *const bars;
    std::array<ExpertPlot *, kExpertAxes> plots;

private:
    void follow(const PlanPtr &plan) override { m_study.setPlan(plan); }
    void watch(bool isWatched) override { m_study.setWatched(isWatched); }
    void refresh() override;
    [[nodiscard]] QString table(QChar separator) const override;
    [[nodiscard]] QWidget *makeTable();
    [[nodiscard]] QWidget *makePlots();
    void setComparison(ExpertComparisonPtr comparison);

    ExpertComparisonPtr m_comparison;
    TextLine *m_published, *m_spared, *m_gain, *m_standing;
    ExpertStudy m_study;
};

} // namespace trainyard
