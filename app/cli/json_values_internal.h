#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON of the reports of this folder: its keys keep their order, and what is not known is null. For .cpp files of this
// folder only.

#include <nlohmann/json.hpp>

#include <optional>

namespace trainyard::cli {

using Json = nlohmann::ordered_json;

template <class T> Json jsonOrNull(const std::optional<T> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

} // namespace trainyard::cli
