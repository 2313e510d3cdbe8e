#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The front door of the core: a plan in, its evaluation out. Pure but for the workspace; call it from any one thread.
//
//   EvaluationWorkspace workspace;                       // keep it: buffers and topologies are reused
//   const auto evaluation = evaluate(plan, builtinCatalogue(), workspace);

#include "core/base/error.h"
#include "core/catalogue/catalogue.h"
#include "core/evaluate/evaluation.h"

#include <memory>
#include <stop_token>

namespace trainyard {

class EvaluationWorkspace {
public:
    EvaluationWorkspace();
    ~EvaluationWorkspace();
    EvaluationWorkspace(EvaluationWorkspace &&) noexcept;
    EvaluationWorkspace &operator=(EvaluationWorkspace &&) noexcept;
    struct State;
    [[nodiscard]] State &state() { return *m_state; }

private:
    std::unique_ptr<State> m_state;
};

struct EvaluateOptions {
    bool keepTimeline = true;      // false: metrics only (searches, effects of switches)
    bool offerFixes = true;        // false: problems without fixes
    bool onlyQuickFixes = false;   // leave out those for which a large cluster would have to be placed over and over
};

/// Evaluates a plan. A plan that is valid but infeasible (does not fit, cannot be placed) is a result, with problems.
/// Errors: names that neither plan nor catalogue define, values that contradict each other, an iteration longer than a timeline,
/// Cancelled.
[[nodiscard]] ExpectedAll<EvaluationPtr> evaluate(PlanPtr plan, const Catalogue &catalogue, EvaluationWorkspace &workspace,
                                                  std::stop_token stop = {}, EvaluateOptions options = {});

} // namespace trainyard
