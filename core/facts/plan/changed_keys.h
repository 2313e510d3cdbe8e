#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which keys of the plan file two plans differ in, and a plan with one of them put back: for whoever asks what a single
// setting does among several. Keys are compared as a file has them, so that a key that is left out is at its default.
//
//   for (const ChangedKey &key : changedKeys(before, after))
//       const auto without = withKeyOf(after, before, key);   // `after` but for this key
//
// Pure functions, any thread.

#include "core/base/error.h"
#include "core/facts/plan/plan.h"

#include <string>
#include <vector>

namespace trainyard {

struct ChangedKey {
    /// as --set takes it: "cluster.datacenters[0].pools[0].nodes"
    std::string path;
    /// as planKeys() has it: "cluster.datacenters[].pools[].nodes"; keys inside of an inline model or GPU are not there
    std::string row;
    /// JSON pointer into the file
    std::string pointer;
    bool operator==(const ChangedKey &) const = default;
};

/// In the order of the file. A list whose length differs is one key, and so is a section that only one of them has
/// (`profile`); name and notes, which nothing is computed from, are left out.
[[nodiscard]] std::vector<ChangedKey> changedKeys(const Plan &before, const Plan &after);

/// The plan with this key as `other` has it. Errors: those of reading a plan whose keys only fit each other together.
[[nodiscard]] ExpectedAll<Plan> withKeyOf(const Plan &plan, const Plan &other, const ChangedKey &key);

} // namespace trainyard
