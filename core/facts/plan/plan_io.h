#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plan files: JSON in and out, dotted keys, schema. Errors name file and JSON pointer (or line:column) and what would
// be right. Writing keeps unknown keys and writes what differs from the defaults, plus the keys that every plan should
// show.

#include "core/base/output_file.h"
#include "core/base/text_file.h"
#include "core/facts/plan/enum_names.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace trainyard {

/// Parses a plan, or the one inside of a report (core/facts/plan/embedded_plan.h). `fileName` is for messages;
/// `baseDir` resolves relative paths. Older versions are migrated.
[[nodiscard]] ExpectedAll<Plan> parsePlan(
    std::string_view json, const std::string &fileName, const std::string &baseDir = {});
[[nodiscard]] ExpectedAll<Plan> readPlan(const std::string &path, FileKinds kinds = FileKinds::RegularOnly);
/// What messages about an unreadable plan expect.
inline constexpr const char *kPlanFile = "a readable plan file, *.trainyard.json";

/// The plan as a version 1 file, two-space indented, ending in a newline.
[[nodiscard]] std::string formatPlan(const Plan &plan);
/// Never half a file: core/base/output_file.h. Files that the plan names lead to where they led before (rebased()).
[[nodiscard]] Expected<void> writePlan(
    const Plan &plan, const std::string &path, OutputKinds kinds = OutputKinds::RegularOnly);

/// The plan with one dotted key set: "parallelism.pipeline", "cluster.datacenters[0].pools[0].nodes". The value parses
/// as JSON, else as a string. Errors: UnknownKey with the nearest known key; BadValue.
[[nodiscard]] ExpectedAll<Plan> withKeySet(const Plan &plan, std::string_view dottedKey, std::string_view value);
/// Several of them, one after the other, each as the ones before left the plan.
/// dotted key, value
using KeySetting = std::pair<std::string, std::string>;
[[nodiscard]] ExpectedAll<Plan> withKeysSet(const Plan &plan, std::span<const KeySetting> settings);

/// JSON Schema (draft-07).
[[nodiscard]] std::string planSchema();

} // namespace trainyard
