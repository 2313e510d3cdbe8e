#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The panels in their places, between splitters, and the wires between them: edits go to the document, plans to the
// evaluation bridge, evaluations to every panel. GUI thread.

#include "models/arrangements.h"
#include "models/effects.h"
#include "models/evaluation_bridge.h"
#include "models/plan_document.h"
#include "models/shown.h"

#include <QTimer>
#include <QWidget>

#include <array>
#include <utility>

class QSplitter;

namespace trainyard {

class BaselineComparison;
class ClusterMap;
class CurvesPanel;
class DatacenterPanel;
class EditHistory;
class EditsPanel;
class ExpertsOnMap;
class GpuSharesPanel;
class JobAdviser;
class JobsPanel;
class LiveStrip;
class DatacenterRanking;
class DetailsPanel;
class MemoryAdviser;
class MemoryDetails;
class NumberStrip;
class ProblemsPanel;
class RokSearch;
class RunBadge;
class ScrollAnchor;
class StatusLine;
class StrategyPanel;
class TabbedCard;
class TimelineView;
class WhyPanel;
class WorkloadEditor;

struct WindowModels {
    PlanDocument &document;
    EvaluationBridge &bridge;
    StrategyEffects &effects;
    const Catalogue &catalogue;
};

class Workbench : public QWidget {
    Q_OBJECT

    /// first: panels are made from them
    WindowModels m_models;
    EditHistory *m_history;

public:
    explicit Workbench(const WindowModels &models, QWidget *parent = nullptr);

    NumberStrip *const strip;
    ClusterMap *const map;
    TimelineView *const timeline;
    CurvesPanel *const curves;
    StrategyPanel *const strategies;
    WorkloadEditor *const workload;
    JobsPanel *const jobs;
    DatacenterPanel *const datacenters;
    WhyPanel *const why;
    ProblemsPanel *const problems;
    MemoryDetails *const memory;
    GpuSharesPanel *const shares;
    EditsPanel *const edits;
    DetailsPanel *const details;
    StatusLine *const status;
    ExpertsOnMap *const experts;

    /// Brings a panel to the front and gives it the keyboard.
    void reveal(QWidget *panel);
    /// Brings them to the front; the keyboard stays where it is.
    void showDetails();
    [[nodiscard]] EditHistory &history() const { return *m_history; }
    [[nodiscard]] const Catalogue &catalogue() const { return m_models.catalogue; }
    /// All that is about memory: its switches, what fills the GPUs, and the curves of recomputing, offloading or
    /// keeping.
    void showMemory();
    /// What to do about the memory: the steps that make the plan fit or, where it does, headroom suggestions.
    void showFitting();
    /// What other systems would make of the plan's GPUs: asked for, and in front.
    void showBaselines();
    /// A line above the panels, of the run that lies under the timeline.
    void addRunBadge(RunBadge *badge);
    /// The variants of a meeting, above everything else.
    void addVariants(QWidget *variants);
    /// And one of a run that goes on.
    void addLiveStrip(LiveStrip *line);
    /// All panels, in their usual places.
    void resetLayout();
    /// Shows the place of a panel where an arrangement hides it.
    void bringOut(const QWidget *panel);
    /// How the panels lie, as shares of the window.
    [[nodiscard]] Arrangement arrangement() const;
    void setArrangement(const Arrangement &arrangement);
    [[nodiscard]] QByteArray layoutState() const;
    void restoreLayout(const QByteArray &state);

protected:
    void showEvent(QShowEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void arrange();
    void connectEdits();
    void connectRanking();
    void connectRok();
    void connectMemory();
    void connectShares();
    void connectJobs();
    void connectRange();
    void connectDetails();
    void hideParts(const Arrangement &arrangement);
    void showTab(const QString &name);
    [[nodiscard]] QString tabInFront(const TabbedCard *card) const;
    /// "strategies": what stands behind tabs
    [[nodiscard]] std::vector<std::pair<QString, QWidget *>> tabbedPanels() const;
    /// of jobs, and which one stands out
    void connectPins();
    void showJobOnMap(int job);
    template <class Panel> void takeEdits(Panel *panel);
    void showPlan(const PlanPtr &plan, bool isPreview);
    /// The one way to the panels: `kept` is previewing and must not change under the pointer.
    void tell(const Shown &shown, const QWidget *kept = nullptr);
    void showEvaluation(const EvaluationPtr &evaluation);
    void showFailure(const PlanPtr &plan, const Errors &errors);
    void awaitNumbers();
    void showStale(bool isStale);
    /// which panels tell of another plan than the one that is shown
    void showOutdated();
    void showBaseline();
    [[nodiscard]] EvaluationPtr ghost() const;
    /// one time axis for timeline and curves
    void alignCurves();

    /// what the panels were told last; and last of a plan that is not only previewed
    Shown m_shown, m_settled;
    DatacenterRanking *m_ranking;
    RokSearch *m_rok;
    MemoryAdviser *m_adviser;
    BaselineComparison *m_baselines;
    JobAdviser *m_jobAdviser;
    QWidget *m_previewedBy =
        nullptr; // a control of this panel is being tried: the panel must not change under the pointer
    bool m_isStale = false;
    /// an evaluation goes to the panels: what they signal is no choice of a person
    bool m_isTelling = false;
    bool m_isArranged = false;
    /// Of the left column, by the arrangement: charts that are enlarged hide their neighbours for the moment only.
    std::array<bool, 3> m_isHidden {};
    /// the map is painted with its numbers, not once without them and again with them
    QTimer m_paintDelay;
    /// what is there in the blink of an eye need not be announced
    QTimer m_staleDelay;
    std::pair<int, int> m_insets { -1, -1 };
    QSplitter *m_columns, *m_left, *m_right;
    /// of the right column
    TabbedCard *m_upper, *m_lower;
    ScrollAnchor *m_memoryAnchor = nullptr, *m_sharesAnchor = nullptr;
};

} // namespace trainyard
