#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The catalogue as tables: what `trainyard-cli catalog` prints. Cells are typed so that JSON keeps numbers as numbers.

#include "core/catalogue/catalogue.h"

#include <string>
#include <variant>
#include <vector>

namespace trainyard {

struct CatalogueListing {
    using Cell = std::variant<std::monostate, double, bool, std::string, std::map<std::string, std::string>>;   // monostate: unknown
    struct Column {
        std::string key;           // in JSON
        std::string heading;       // in the table; empty = JSON only
    };
    std::string name;              // "gpus"
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
};

[[nodiscard]] CatalogueListing gpuListing(const Catalogue &catalogue);
[[nodiscard]] CatalogueListing modelListing(const Catalogue &catalogue);
[[nodiscard]] CatalogueListing linkListing(const Catalogue &catalogue);    // round trips between regions
[[nodiscard]] CatalogueListing priceListing(const Catalogue &catalogue);   // GPUs by the hour, egress and power by region

[[nodiscard]] std::string listingTable(const CatalogueListing &listing);
/// {"gpus": [{"id": …}, …]}
[[nodiscard]] std::string listingJson(const CatalogueListing &listing);

} // namespace trainyard
