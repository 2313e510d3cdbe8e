#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far problems look for their fixes: every plan that might be one has to be placed, and simulated where activations
// leave the GPU. One search serves all problems of an evaluation, and stops with it.

#include "core/evaluation/memory_fit/footprint.h"

#include <string>

namespace trainyard {

/// Of one evaluation: about half a second. `trainyard-cli fit` looks further.
inline constexpr std::int64_t kMostFixTasks = 4'000'000;

class FixSearch {
public:
    FixSearch(const Catalogue &catalogue, std::stop_token stop)
        : m_footprints(catalogue, kMostFixTasks, std::move(stop))
    {
    }

    [[nodiscard]] Footprints &footprints() { return m_footprints; }
    /// What follows a problem's sentence where plans were left out; empty else.
    [[nodiscard]] std::string whatWasLeftOut() const;

private:
    Footprints m_footprints;
};

} // namespace trainyard
