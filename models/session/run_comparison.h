#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan beside a run, or a run beside another, as two plans are by PairComparison: both timelines, the numbers that
// both tell, GPU time by place and kind of work, kernels of two runs. What a side does not tell is told by nobody else.
// Works in the background, while someone looks; never an older pair after a newer. Lives on the GUI thread.

#include "core/base/newest_worker.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/runs/overlay/place_differences.h"
#include "models/measured_lanes.h"
#include "models/run_profile.h"

#include <QStringList>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// One of the two: a plan, or a step of a run.
struct ComparedSide {
    QString name;
    /// null: a run
    PlanPtr plan;
    RunPtr run;
    /// of the run; empty: the typical one
    std::optional<std::int64_t> step;

    [[nodiscard]] bool isThere() const { return plan || run; }
    bool operator==(const ComparedSide &) const = default;
};

/// A quantity of both sides, in SI units or "1".
struct ComparedNumber {
    /// samples::…, as curves of runs have it
    std::string name;
    QString title;
    std::string unit;
    /// empty: that side does not tell it
    std::optional<double> before, after;
    /// 1: more of it is better; -1: less; 0: neither
    int better = 0;
};

struct ComparedRuns {
    ComparedSide before, after;
    /// of the plan, where one of the two is one that can be evaluated
    EvaluationPtr evaluation;
    /// of the runs: [before, after]; null of a plan. Beside a plan they lie under it.
    std::array<RunOverlayPtr, 2> overlays;
    /// of their rows; null where the step shows no spans
    std::array<MeasuredLanesPtr, 2> lanes;
    /// Of the runs alone: what no plan had to add.
    std::array<std::shared_ptr<const std::vector<RunCurve>>, 2> curves;
    /// Empty: they are compared. Else why not, a sentence; then no difference is told, and nothing of the plan stands
    /// beside the run.
    QString whyNot;
    /// what has to be known of the figures, a sentence each
    QStringList notes;
    std::vector<ComparedNumber> numbers;
    /// reference: before; measured: after. Of all places, and of each
    std::vector<PlaceDifference> kinds, places;
    /// of two runs with traces: what became of the kernels; else null
    ProfilePtr kernels;
};
using ComparedRunsPtr = std::shared_ptr<const ComparedRuns>;

/// Either has to be a run. `known`: an older pair whose parts are taken over where they are the same; may be null.
[[nodiscard]] ComparedRunsPtr comparedRuns(const ComparedSide &before, const ComparedSide &after,
    const Catalogue &catalogue, const ComparedRunsPtr &known = nullptr, const std::stop_token &stop = {});

class RunComparison : public QObject {
    Q_OBJECT
public:
    explicit RunComparison(const Catalogue &catalogue, QObject *parent = nullptr);

    /// Both have to be there, and one a run: else there is nothing to compare.
    void setSides(const ComparedSide &before, const ComparedSide &after);
    void setWatched(bool watched);
    /// The newest that is done; null before the first.
    [[nodiscard]] const ComparedRunsPtr &pair() const { return m_pair; }
    [[nodiscard]] bool isUnderWay() const { return m_isUnderWay; }
    /// It is of the sides that were set last.
    [[nodiscard]] bool isCurrent() const { return m_pair && m_pair->before == m_before && m_pair->after == m_after; }

signals:
    void pairChanged();
    void underWayChanged();

private:
    struct Request {
        ComparedSide before, after;
        ComparedRunsPtr known;
    };
    void ask();
    void take(const ComparedRunsPtr &pair);

    const Catalogue &m_catalogue;
    ComparedSide m_before, m_after;
    ComparedRunsPtr m_pair;
    bool m_isWatched = false, m_isOwed = false, m_isUnderWay = false;
    /// last: it uses everything above
    NewestWorker<Request> m_worker;
};

} // namespace trainyard
