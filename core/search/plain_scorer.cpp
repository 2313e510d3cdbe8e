// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/search/plain_scorer.h"

#include <limits>

namespace trainyard {

Score PlainScorer::score(const Candidate &candidate)
{
    Score score;
    const PlanPtr plan = m_space.plan(candidate);
    if (hasJobs(*plan)) // whose estimate is their schedule
        return score;
    const auto evaluation = run(plan, Depth::Estimate, { m_catalogue, m_workspace });
    if (!evaluation) {
        const Error &error = evaluation.error().front();
        score.state = ScoreState::Refused;
        score.reason = reasonOf(error.where.empty() ? error.what : error.where + " cannot be so with the rest");
    } else if (!(*evaluation)->feasibility.isPlaced) {
        score.state = ScoreState::Refused;
        score.reason = reasonOf("its stages find no place");
    } else { // of the placement of the least bound: another may have another number of replicas
        score.estimate = (*evaluation)->metrics.iterationTime.value_or(0);
    }
    return score;
}

std::uint16_t PlainScorer::reasonOf(const std::string &text)
{
    const auto [known, isNew] = m_known.try_emplace(text, std::uint16_t(m_reasons.size()));
    if (!isNew)
        return known->second;
    if (m_reasons.size() == std::numeric_limits<std::uint16_t>::max()) {
        m_known.erase(known);
        return std::uint16_t(m_reasons.size() - 1);
    }
    m_reasons.push_back(text);
    return known->second;
}

} // namespace trainyard
