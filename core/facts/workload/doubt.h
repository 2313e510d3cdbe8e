#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader of a source (a config.json, a script, a log) did not understand of it, or cannot express: it goes
// with the value that was read, into the plan's file and out of it, so that evaluations, the window and reports say it.
// Plain value.

#include "core/base/error.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct Doubt {
    /// field of the source, "layer_types"; may be empty
    std::string key;
    /// what is missing, and how far off it may be: a sentence without its full stop
    std::string text;
    /// The iteration may take (1 + low) to (1 + high) times what is predicted: low from -1 to 0, high from 0 up.
    double low = 0, high = 0;
    /// the value itself is in doubt: nothing may be computed of it
    bool isBlocking = false;
    /// of the sources of the plan, not of its model: Plan::notUnderstood
    bool isOfPlan = false;
    bool operator==(const Doubt &) const = default;
};

using Doubts = std::vector<Doubt>;

/// The first that forbids to compute anything; null where none does.
[[nodiscard]] const Doubt *blockingDoubt(const Doubts &doubts);
/// "layer_types: 4 of 10 layers …", as messages say it.
[[nodiscard]] std::string toString(const Doubt &doubt);
/// Why a plan with such doubts is neither ranked nor searched, at the key that they are about; empty where there are
/// none.
[[nodiscard]] std::optional<Error> whyUnranked(const Doubts &doubts);

} // namespace trainyard
