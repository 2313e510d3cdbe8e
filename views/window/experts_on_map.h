#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Wires experts between the map and the details: GPUs that are selected tell their experts and who sends to them; an
// expert that is asked for is shown with its senders' lines, stage by stage, also through an edit. GUI thread.

#include "models/expert_finder.h"
#include "views/cluster/map_selection.h"

#include <QObject>

namespace trainyard {

class ClusterMap;
class CommandRegistry;
class ExpertTable;
class MainWindow;

class ExpertsOnMap : public QObject {
    Q_OBJECT
public:
    ExpertsOnMap(ClusterMap &map, const Catalogue &catalogue, QObject *parent);

    [[nodiscard]] ExpertTable *table() const { return m_table; }
    void setEvaluation(EvaluationPtr evaluation);
    [[nodiscard]] bool hasExperts() const { return m_finder.hasExperts(); }
    /// The expert whose lines are shown; -1: none.
    [[nodiscard]] int expert() const { return m_expert; }

    void show(int expert);
    void showFullest();
    /// round and round
    void step(int by);
    void hide();

private:
    void tellSelection();
    void draw();
    [[nodiscard]] const ExpertPlaces *places();
    [[nodiscard]] int stageOf(const MapItem &item) const;

    ClusterMap &m_map;
    ExpertFinder m_finder;
    ExpertTable *m_table;
    int m_expert = -1;
    /// that was looked at last; -1: the first one with experts
    int m_stage = -1;
};

void addExpertCommands(CommandRegistry &registry, MainWindow &window);

} // namespace trainyard
