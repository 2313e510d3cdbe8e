#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From what a plan says of its model to the model: an inline object, a catalogue name, or the path of a Hugging Face
// config.json relative to the plan. Pure but for reading that file.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

namespace trainyard {

/// Errors: UnknownName with the nearest catalogue name; CannotRead, BadSyntax, BadValue of a config.json.
[[nodiscard]] Expected<ModelSpec> resolveModel(
    const WorkloadSpec &workload, const std::string &baseDir, const Catalogue &catalogue);
/// The same for a name alone (the model of bubble filling, of a job).
[[nodiscard]] Expected<ModelSpec> resolveModel(
    const std::string &name, const std::string &baseDir, const Catalogue &catalogue);

} // namespace trainyard
