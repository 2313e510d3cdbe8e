#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan from its JSON document and back, key by key of core/facts/plan/keys/. Private: include it in .cpp files only.

#include "core/facts/plan/json_document_internal.h"
#include "core/facts/plan/plan.h"

namespace trainyard::detail {

inline constexpr const char *kFormat = "trainyard.plan";
/// Unknown keys of an inline GPU or model are kept in the `extra` of the object around it, with this before the name.
inline constexpr std::string_view kInlinePrefix = "inline object: ";

/// How errors say where: "file: /cluster/datacenters/0/id", or the dotted key "cluster.datacenters[0].id".
enum class Where : std::uint8_t { Pointer, DottedKey };

/// The document must be of version Plan::kVersion. Reports every fault, at most kMaxErrors.
[[nodiscard]] ExpectedAll<Plan> planFromJson(const Json &document, const std::string &fileName, Where style);

/// The document of a plan, with format and version.
[[nodiscard]] Json planToJson(const Plan &plan);

/// JSON Schema of the plan file.
[[nodiscard]] const Json &planSchemaJson();

/// Brings a document of an older version to Plan::kVersion, step by step. Errors: BadSyntax where format or version are
/// not ours, or newer than this program.
[[nodiscard]] Expected<Json> migrated(Json document, const std::string &fileName);

} // namespace trainyard::detail
