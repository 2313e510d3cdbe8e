#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Scores of candidates whose space has no tables (score/scorer.h): each through run(Depth::Estimate). It refuses what
// run() refuses and estimates the rest; it claims no least time and no least memory. One a thread.

#include "core/score/scorer.h"

#include <map>

namespace trainyard {

class PlainScorer {
public:
    /// Refers to both.
    PlainScorer(const SearchSpace &space, const Catalogue &catalogue)
        : m_space(space)
        , m_catalogue(catalogue)
    {
    }

    [[nodiscard]] Score score(const Candidate &candidate);
    [[nodiscard]] const std::string &reasonText(std::uint16_t reason) const { return m_reasons[reason]; }

private:
    std::uint16_t reasonOf(const std::string &text);

    const SearchSpace &m_space;
    const Catalogue &m_catalogue;
    EvaluationWorkspace m_workspace;
    std::vector<std::string> m_reasons { {} };
    std::map<std::string, std::uint16_t> m_known;
};

} // namespace trainyard
