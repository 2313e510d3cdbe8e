#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's comparison for the plan that the document has: what each exchange with experts makes of the layer and the
// iteration, beside what is published, and over what it depends on. Works only while it is in sight. GUI thread.

#include "models/expert_study.h"

#include <QWidget>

#include <array>

class QPushButton;
class QToolButton;

namespace trainyard {

class AblationBars;
class ExpertPlot;
class StepLegend;
class TextLine;

class ExpertsPage : public QWidget {
    Q_OBJECT
public:
    explicit ExpertsPage(const Catalogue &catalogue, QWidget *parent = nullptr);

    void setPlan(const PlanPtr &plan, const QString &name); // the document's
    [[nodiscard]] ExpertStudy &study() { return m_study; }
    [[nodiscard]] const ExpertComparison *comparison() const { return m_comparison.get(); }
    [[nodiscard]] QString toTsv() const;

    QPushButton *const back, *const exportCsv;
    QToolButton *const picture;
    AblationBars *const bars;
    std::array<ExpertPlot *, kExpertAxes> plots;

Q_SIGNALS:
    void closed();
    void completed(); // all that is compared is there, or why nothing is

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void arrange();
    [[nodiscard]] QWidget *makeTable();
    [[nodiscard]] QWidget *makePlots();
    void setComparison(ExpertComparisonPtr comparison);
    void refresh();
    void saveCsv();

    QString m_name;
    PlanPtr m_plan;
    ExpertComparisonPtr m_comparison;
    TextLine *m_title, *m_overview, *m_result, *m_empty, *m_published, *m_spared, *m_gain, *m_standing;
    QWidget *m_body, *m_nothing;
    ExpertStudy m_study;
};

} // namespace trainyard
