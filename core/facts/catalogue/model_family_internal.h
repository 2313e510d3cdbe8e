#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a model_type of Hugging Face says by itself: habits of a family that no key of its files states, defaults that
// they leave out, and why it cannot be read as layers that are all alike. From resources/catalog/model_families.json,
// loaded once, shared read-only by all threads.

#include "core/facts/catalogue/object_reader_internal.h"

#include <cstdint>

namespace trainyard {

enum class Positions : std::uint8_t { Rotary, Table, TableAndTwo }; // OPT's table has two rows more than it says
enum class BiasHabit : std::uint8_t { None, QueryKeyValue, All };

struct ModelFamily {
    bool isGated = true, hasLayerNorm = false, isTied = false, hasDropout = false;
    /// either matrix of a gated MLP has half of the stated width
    bool hasHalvedFfn = false;
    BiasHabit bias = BiasHabit::None;
    Positions positions = Positions::Rotary;
    /// a stated window holds in every layer
    bool windowsAll = false;
    /// every n-th layer sees everything and the others the window, where no list says it; 0: no habit
    int fullEvery = 0;
    /// its layers of linear attention are Gated DeltaNet
    bool hasGatedDelta = false;
    /// why it cannot be read: a clause; empty: it can
    std::string blocked;
    /// keys of its files that change nothing of what is counted
    std::vector<std::string> ignored;
    /// keys with the values that they have where a file leaves them out
    CatalogueJson defaults = CatalogueJson::object();
    /// the same, in a config inside another, which the library writes without them
    CatalogueJson nestedDefaults = CatalogueJson::object();
};

/// nullptr where the type is not known.
[[nodiscard]] const ModelFamily *modelFamily(const std::string &type);

} // namespace trainyard
