#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Published planners re-stated as rules: what each would choose for a plan's model and cluster, with its own simple
// view of times and memory. Their answers are plans like any other, so that one evaluator judges all of them.
// Sources: docs/model.md, "Other planners".

#include "core/catalogue/catalogue.h"
#include "core/plan/plan.h"

#include <stop_token>
#include <string>

namespace trainyard {

enum class Rival : std::uint8_t { Sailor, Amp, Metis, FlashFlex };
[[nodiscard]] const char *toString(Rival rival);

struct RivalAnswer {
    PlanPtr plan; // null: it finds none
    std::string why; // what it went by, or why it finds none
    double predictedSeconds = 0; // an iteration by its own formula
    std::size_t looked = 0; // combinations
};

/// Within `seconds` of its own search, as published ones are cut (0: no limit).
[[nodiscard]] RivalAnswer planBy(
    Rival rival, const PlanPtr &plan, const Catalogue &catalogue, std::stop_token stop = {});

} // namespace trainyard
