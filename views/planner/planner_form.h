#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the planner is asked for: objective, limits, datacenters, worlds, keys that stay, how long. Every change goes to
// the search's settings at once, which keep it. GUI thread.

#include "models/plan_search.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QVBoxLayout;

namespace trainyard {

class LimitRow;
class SectionTitle;
class TextLine;

class PlannerForm : public QWidget {
    Q_OBJECT
public:
    explicit PlannerForm(PlanSearch &search, QWidget *parent = nullptr);

    QComboBox *const objective, *const robustness;
    LimitRow *const budget, *const gpus, *const throughput, *const days, *const margin, *const seconds, *const seed;
    QCheckBox *const trainOtherwise, *const keepsIdle;
    /// In the order of the plan's datacenters, and of PlanSearch::scenarios().
    [[nodiscard]] const std::vector<QCheckBox *> &datacenters() const { return m_datacenters; }
    [[nodiscard]] const std::vector<QCheckBox *> &scenarios() const { return m_scenarios; }
    /// null where it is not fixed
    [[nodiscard]] QWidget *pinRow(const std::string &key) const;
    /// Settings by themselves; another plan's datacenters and worlds when asked to, as nobody may be looking.
    void refresh();

private:
    void arrange();
    void listPlaces();
    void listScenarios();
    void listPins();
    template <class Change> void change(Change change);

    PlanSearch &m_search;
    std::vector<QCheckBox *> m_datacenters, m_scenarios;
    SectionTitle *m_placesTitle, *m_scenariosTitle, *m_pinsTitle;
    QVBoxLayout *m_placesList, *m_scenariosList, *m_pinsList;
    TextLine *m_noPins;
    QWidget *m_robustnessRow;
    /// the plan whose datacenters and worlds are listed
    PlanPtr m_listedFor;
    std::set<std::string> m_listedPins;
    bool m_isFilling = false;
};

} // namespace trainyard
