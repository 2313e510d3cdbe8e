#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The catalogue as tables: what `trainyard-cli catalog` prints. Cells are typed so that JSON keeps numbers as numbers.

#include "core/facts/catalogue/catalogue.h"

#include <map>
#include <string>
#include <vector>

namespace trainyard {

/// A number, a flag, a text, or the sources of a row's figures; nothing where the catalogue does not know.
struct CatalogueCell {
    enum class Kind : std::uint8_t { Unknown, Number, Flag, Text, Sources };
    CatalogueCell() = default;
    CatalogueCell(double value)
        : kind(Kind::Number)
        , number(value)
    {
    }
    CatalogueCell(bool value)
        : kind(Kind::Flag)
        , number(value ? 1 : 0)
    {
    }
    CatalogueCell(std::string value)
        : kind(Kind::Text)
        , text(std::move(value))
    {
    }
    CatalogueCell(const char *value)
        : CatalogueCell(std::string(value))
    {
    }
    CatalogueCell(std::map<std::string, std::string> value)
        : kind(Kind::Sources)
        , sources(std::move(value))
    {
    }

    Kind kind = Kind::Unknown;
    double number = 0;
    std::string text;
    std::map<std::string, std::string> sources;
};

struct CatalogueListing {
    struct Column {
        /// in JSON
        std::string key;
        /// in the table; empty = JSON only
        std::string heading;
    };
    /// "gpus"
    std::string name;
    std::vector<Column> columns;
    std::vector<std::vector<CatalogueCell>> rows;
};

[[nodiscard]] CatalogueListing gpuListing(const Catalogue &catalogue);
[[nodiscard]] CatalogueListing modelListing(const Catalogue &catalogue);
[[nodiscard]] CatalogueListing linkListing(
    const Catalogue &catalogue); // round trips between regions, bandwidth in zones
/// training frameworks and their known releases
[[nodiscard]] CatalogueListing stackListing(const Catalogue &catalogue);
/// built in: what their rows of traits say
[[nodiscard]] CatalogueListing scheduleListing(const Catalogue &catalogue);
/// GPUs by the hour, egress and power by region
[[nodiscard]] CatalogueListing priceListing(const Catalogue &catalogue);

[[nodiscard]] std::string listingTable(const CatalogueListing &listing);
/// {"gpus": [{"id": …}, …]}
[[nodiscard]] std::string listingJson(const CatalogueListing &listing);

} // namespace trainyard
