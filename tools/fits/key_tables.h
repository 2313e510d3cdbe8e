#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of docs/plan-file.md, made of the keys' own descriptions (core/facts/plan/keys/). Pure functions, any
// thread.

#include "core/facts/plan/key_list.h"

namespace trainyard {

/// A row for each key of a section: "" is the plan itself, "cluster.datacenters[]" one of its datacenters.
[[nodiscard]] std::string keyTable(const std::string &section);

/// The page with the table below each line `<!-- keys of SECTION -->` as it should be; `<!-- keys of a plan -->` is the
/// plan's own.
[[nodiscard]] std::string withKeyTables(const std::string &page);

/// Sections with keys, in the order of the file.
[[nodiscard]] std::vector<std::string> keySections();

} // namespace trainyard
