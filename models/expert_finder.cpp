// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/expert_finder.h"

#include <utility>

namespace trainyard {

void ExpertFinder::setEvaluation(EvaluationPtr evaluation)
{
    if (evaluation == m_evaluation)
        return;
    m_evaluation = std::move(evaluation);
    m_layer.reset();
    m_stages.clear();
}

bool ExpertFinder::hasExperts() const
{
    return m_evaluation && m_evaluation->metrics.experts;
}

const ExpertPlaces *ExpertFinder::of(int stage)
{
    if (!hasExperts())
        return nullptr;
    if (!m_layer) {
        auto layer = expertLayer(*m_evaluation, m_catalogue);
        m_layer = layer ? std::move(*layer) : std::optional<ExpertLayer>();
    }
    if (!*m_layer)
        return nullptr;
    auto &places = m_stages[stage];
    if (!places)
        places = std::make_unique<ExpertPlaces>(*m_evaluation, **m_layer, stage);
    return places->isEmpty() ? nullptr : places.get();
}

const ExpertPlaces *ExpertFinder::first()
{
    if (!m_evaluation)
        return nullptr;
    for (int stage = 0; stage < int(m_evaluation->layout.chunks.size()); ++stage)
        if (const ExpertPlaces *places = of(stage))
            return places;
    return nullptr;
}

} // namespace trainyard
