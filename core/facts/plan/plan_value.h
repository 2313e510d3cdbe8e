#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What values of a plan are made of: keys that this version does not know, and numbers that may be left to it.

#include <map>
#include <optional>
#include <string>

namespace trainyard {

/// key -> JSON text
using Extra = std::map<std::string, std::string>;
/// A number, or "auto" (empty).
template <class T> using Auto = std::optional<T>;

} // namespace trainyard
