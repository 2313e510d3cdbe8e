#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the experts of the evaluation that is shown live: worked out when somebody asks, once a stage, and forgotten
// with the evaluation. GUI thread.

#include "core/evaluation/evaluate/expert_places.h"

#include <map>
#include <memory>

namespace trainyard {

class ExpertFinder {
public:
    explicit ExpertFinder(const Catalogue &catalogue)
        : m_catalogue(catalogue)
    {
    }

    void setEvaluation(EvaluationPtr evaluation);
    [[nodiscard]] const EvaluationPtr &evaluation() const { return m_evaluation; }
    /// Whether there are any.
    [[nodiscard]] bool hasExperts() const;
    /// Of one stage; nullptr where it holds none.
    [[nodiscard]] const ExpertPlaces *of(int stage);
    /// Of the first stage that holds any.
    [[nodiscard]] const ExpertPlaces *first();

private:
    const Catalogue &m_catalogue;
    EvaluationPtr m_evaluation;
    /// outer: asked for
    std::optional<std::optional<ExpertLayer>> m_layer;
    std::map<int, std::unique_ptr<ExpertPlaces>> m_stages;
};

} // namespace trainyard
