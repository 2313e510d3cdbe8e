#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the .cpp files of this folder that write JSON: values that keep their order, and numbers that are finite.

#include "core/evaluation/evaluate/evaluation.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace trainyard {

using Json = nlohmann::ordered_json;

inline Json finite(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}
inline Json finite(const Metric &value)
{
    return value ? finite(*value) : Json(nullptr);
}

/// Text with anything that is not UTF-8 replaced, so that a stray byte in a name cannot make the output unreadable.
inline std::string dumped(const Json &json, int indent = 2)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The metrics object of an evaluation, as metricsJson() prints it.
[[nodiscard]] Json metricsObject(const Evaluation &evaluation);
/// Of it, `jobs`: null where the plan has none.
[[nodiscard]] Json jobsObject(const Evaluation &evaluation);

} // namespace trainyard
