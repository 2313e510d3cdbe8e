#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one way in: a plan and how deep to look, its evaluation out. Each depth is the one before and more, so that a
// search looks no deeper than it has to and all agree on what can run. Pure but for workspace and cache; call it from
// any one thread.
//
//   EvaluationWorkspace workspace;                       // keep it: buffers and topologies are reused
//   const auto score = run(plan, Depth::Score, {builtinCatalogue(), workspace});

#include "core/base/error.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/layouts/open_replicas.h"

#include <limits>
#include <memory>
#include <stop_token>

namespace trainyard {

class GraphCache;

enum class Depth : std::uint8_t {
    /// the placement of the least bound; time in closed form, and the most memory that the schedule may take
    Estimate,
    /// where the stages lie, memory, feasibility; simulated only where activations leave the GPU, and of a
    Fit,
    // few placements the one that fits or else comes nearest. Orders made at run time hold the most they may
    /// and time, cost and problems, of the fastest placement that can run
    Score,
    /// and the timeline, and memory over time
    Spans,
    /// and the fixes of problems that have to be looked for
    Everything,
};

class EvaluationWorkspace {
public:
    EvaluationWorkspace();
    /// Several may share the topologies that they know.
    explicit EvaluationWorkspace(std::shared_ptr<GraphCache> graphs);
    ~EvaluationWorkspace();
    EvaluationWorkspace(EvaluationWorkspace &&) noexcept;
    EvaluationWorkspace &operator=(EvaluationWorkspace &&) noexcept;
    struct State;
    [[nodiscard]] State &state() { return *m_state; }

private:
    std::unique_ptr<State> m_state;
};

/// What a search may still look at, counted in tasks of the iterations that it looks at, so that it ends alike on every
/// machine.
struct SearchWork {
    std::int64_t tasksLeft = std::numeric_limits<std::int64_t>::max();
    std::stop_token stop = {};
    /// a plan was left out because it had more tasks than were left
    bool isCut = false;

    bool take(std::int64_t tasks);
};

struct RunContext;
class RunCache;
struct Workload;

/// Looks for the fixes of problems. It stands above the searches, which run plans themselves.
class FixFinder {
public:
    virtual ~FixFinder() = default;
    /// `workload`: null where the plan could not be resolved.
    virtual void addFixes(Evaluation &evaluation, const Workload *workload, const RunContext &context) const = 0;
};

struct RunContext {
    const Catalogue &catalogue;
    EvaluationWorkspace &workspace;
    std::stop_token stop = {};
    /// of Depth::Everything
    const FixFinder *fixes = nullptr;
    /// asked first, and told what was found
    RunCache *cache = nullptr;
    /// of Depth::Fit; its plans are left out where it is used up
    SearchWork *work = nullptr;
    /// Of every depth but the estimate. A search, which has numbers of its own to try, asks for the most.
    OpenReplicas replicas = OpenReplicas::Fastest;
};

/// A plan that is valid but infeasible (does not fit, cannot be placed) is a result, with problems.
/// Errors: names that neither plan nor catalogue define, values that contradict each other, an iteration longer than a
/// timeline, Cancelled.
[[nodiscard]] ExpectedAll<EvaluationPtr> run(PlanPtr plan, Depth depth, const RunContext &context);

} // namespace trainyard
