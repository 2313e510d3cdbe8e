// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"

#include "core/evaluation/report/catalogue_listing.h"

namespace trainyard::cli {

namespace {

struct CatalogOptions {
    std::string what, format;
};

int runCatalog(const CatalogOptions &options)
{
    static const std::map<std::string, CatalogueListing (*)(const Catalogue &)> listings { { "gpus", gpuListing },
        { "models", modelListing }, { "links", linkListing }, { "prices", priceListing }, { "stacks", stackListing },
        { "schedules", scheduleListing } };
    const CatalogueListing listing = listings.at(options.what)(builtinCatalogue());
    return print(options.format == "json" ? listingJson(listing) : listingTable(listing), options.format);
}

} // namespace

void addCatalogCommand(CLI::App &app, int &exitCode)
{
    const auto options = std::make_shared<CatalogOptions>();
    const Subcommand command(app, "catalog", "List what the built-in catalogue knows, with sources in JSON");
    command.text("WHAT", options->what, "gpus, models, links, prices, stacks or schedules")
        .required()
        .oneOf({ "gpus", "models", "links", "prices", "stacks", "schedules" });
    addFormatOption(command, options->format, { "table", "json" });
    command.callback([options, &exitCode] { exitCode = runCatalog(*options); });
}

} // namespace trainyard::cli
