// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/catalogue_listing.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/evaluation/report/json_internal.h"
#include "core/facts/catalogue/zone_network.h"
#include "core/facts/workload/model_math.h"

namespace trainyard {

namespace {

using Cell = CatalogueCell;

/// In the catalogue's structs 0 stands for "unknown" or "has none".
Cell known(double value)
{
    return value == 0 ? Cell() : Cell(value);
}

std::string cellText(const Cell &cell)
{
    switch (cell.kind) {
    case Cell::Kind::Number: {
        const bool isWhole = cell.number == std::floor(cell.number) && std::abs(cell.number) < 1e6;
        return isWhole ? std::to_string(static_cast<long long>(cell.number)) : countText(cell.number);
    }
    case Cell::Kind::Flag:
        return cell.number != 0 ? "yes" : "no";
    case Cell::Kind::Text:
        return cell.text;
    case Cell::Kind::Unknown:
    case Cell::Kind::Sources:
        break;
    }
    return "\u2013";
}

Json cellJson(const Cell &cell)
{
    switch (cell.kind) {
    case Cell::Kind::Number: {
        const bool isWhole = cell.number == std::floor(cell.number) && std::abs(cell.number) < 1e15;
        return isWhole ? Json(static_cast<std::int64_t>(cell.number)) : finite(cell.number);
    }
    case Cell::Kind::Flag:
        return cell.number != 0;
    case Cell::Kind::Text:
        return cell.text;
    case Cell::Kind::Sources:
        return cell.sources;
    case Cell::Kind::Unknown:
        break;
    }
    return nullptr;
}

} // namespace

CatalogueListing gpuListing(const Catalogue &catalogue)
{
    CatalogueListing listing { "gpus",
        { { "id", "id" }, { "name", "name" }, { "vendor", "" }, { "architecture", "architecture" },
            { "memory_gb", "GB" }, { "memory_gbytes_per_s", "GB/s" }, { "fp32_tflops", "" }, { "tf32_tflops", "" },
            { "fp16_tflops", "" }, { "bf16_tflops", "bf16 TFLOP/s" }, { "fp8_tflops", "fp8" }, { "mxfp8_tflops", "" },
            { "nvfp4_tflops", "" }, { "link_gbytes_per_s", "link GB/s" }, { "link_domain", "" },
            { "pcie_gbytes_per_s", "" }, { "fabric_gbps", "" }, { "tdp_watts", "W" }, { "usd_per_hour", "$/h" },
            { "sources", "" } },
        {} };
    for (const GpuSpec &gpu : catalogue.gpus) {
        std::vector<Cell> row { gpu.id, gpu.name, gpu.vendor, gpu.architecture, known(double(gpu.memoryBytes) / 1e9),
            known(gpu.memoryGBps) };
        for (const double peak : gpu.peakTflops)
            row.push_back(known(peak));
        for (const double value :
            { gpu.linkGBps, double(gpu.linkDomain), gpu.pcieGBps, gpu.fabricGbps, gpu.tdpWatts, gpu.usdPerHour })
            row.push_back(known(value));
        row.push_back(gpu.sources);
        listing.rows.push_back(std::move(row));
    }
    return listing;
}

CatalogueListing modelListing(const Catalogue &catalogue)
{
    CatalogueListing listing { "models",
        { { "id", "id" }, { "name", "name" }, { "parameters", "parameters" }, { "active_parameters", "active" },
            { "published_parameters", "published" }, { "layers", "layers" }, { "hidden", "hidden" },
            { "heads", "heads" }, { "kv_heads", "kv" }, { "head_dim", "" }, { "ffn", "ffn" }, { "vocab", "vocab" },
            { "gated_ffn", "" }, { "tied_embeddings", "" }, { "attention", "" }, { "experts", "experts" },
            { "experts_per_token", "" }, { "expert_ffn", "" }, { "shared_expert_ffn", "" }, { "dense_layers", "" },
            { "source", "" } },
        {} };
    for (const ModelSpec &m : catalogue.models) {
        const Cell attention = m.attention == AttentionKind::Latent ? "latent" : "grouped";
        listing.rows.push_back({ m.id, m.name, totalParameters(m), activeParameters(m), known(m.publishedParameters),
            double(m.layers), double(m.hidden), double(m.heads), double(m.kvHeads), double(m.headDim), double(m.ffn),
            double(m.vocab), m.gatedFfn, m.tiedEmbeddings, attention, known(m.experts), known(m.expertsPerToken),
            known(m.expertFfn), known(m.sharedExpertFfn), m.isMoe() ? Cell(double(m.denseLayers)) : Cell(), m.source });
    }
    return listing;
}

CatalogueListing linkListing(const Catalogue &catalogue)
{
    CatalogueListing listing { "links",
        { { "from", "from" }, { "to", "to" }, { "rtt_ms", "RTT ms" }, { "usd_per_gb", "$/GB" },
            { "machine", "machine" }, { "gbytes_per_s_1mb", "GB/s at 1 MB" }, { "gbytes_per_s_32mb", "32 MB" },
            { "gbytes_per_s_1gb", "1 GB" }, { "network", "" }, { "source", "" } },
        {} };
    for (const RegionLink &link : catalogue.regionLinks) {
        const Region *from = catalogue.region(link.from);
        const Cell price = link.usdPerGb ? Cell(*link.usdPerGb) : from ? Cell(from->egressUsdPerGb) : Cell();
        listing.rows.push_back(
            { link.from, link.to, link.rttMs, price, Cell(), Cell(), Cell(), Cell(), Cell(), link.source });
    }
    for (const ZoneNetwork &network : builtinZoneNetworks()) {
        for (const ZoneLink &link : network.links) {
            const std::optional<double> price = network.usdPerGb(link.from, link.to);
            const auto at = [&](double bytes) { return bandwidth(link.curve, Bytes { bytes }).value / 1e9; };
            listing.rows.push_back({ link.from, link.to, Cell(), price ? Cell(*price) : Cell(), link.machine, at(1e6),
                at(32e6), at(1e9), network.id, link.source });
        }
    }
    return listing;
}

CatalogueListing stackListing(const Catalogue &catalogue)
{
    CatalogueListing listing { "stacks", { { "id", "id" }, { "name", "name" }, { "releases", "releases" } }, {} };
    for (const StackSpec &stack : catalogue.stacks) {
        std::string releases;
        for (const StackRelease &release : stack.releases)
            releases += (releases.empty() ? "" : ", ") + release.id;
        listing.rows.push_back({ stack.id, stack.name, releases.empty() ? Cell() : Cell(releases) });
    }
    return listing;
}

CatalogueListing priceListing(const Catalogue &catalogue)
{
    CatalogueListing listing { "prices",
        { { "what", "what" }, { "id", "id" }, { "usd", "$" }, { "unit", "per" }, { "source", "source" } }, {} };
    for (const GpuSpec &gpu : catalogue.gpus) {
        const auto source = gpu.sources.find("usd_per_hour");
        listing.rows.push_back({ "gpu", gpu.id, known(gpu.usdPerHour), "hour",
            source == gpu.sources.end() ? Cell() : Cell(source->second) });
    }
    for (const Region &region : catalogue.regions) {
        listing.rows.push_back({ "egress", region.id, region.egressUsdPerGb, "GB", region.source });
        if (region.usdPerKwh > 0)
            listing.rows.push_back({ "power", region.id, region.usdPerKwh, "kWh", region.source });
    }
    for (const ZoneNetwork &network : builtinZoneNetworks()) {
        for (const ZoneMachine &machine : network.machines)
            listing.rows.push_back(
                { "gpu in " + network.id, machine.id, machine.usdPerGpuHour, "hour", machine.source });
        for (const ZonePrice &price : network.egress)
            listing.rows.push_back({ "egress", price.from + " to " + price.to, price.usdPerGb, "GB", price.source });
    }
    return listing;
}

std::string listingTable(const CatalogueListing &listing)
{
    std::vector<TextTable::Align> align;
    std::vector<std::string> headings;
    for (std::size_t c = 0; c < listing.columns.size(); ++c) {
        if (listing.columns[c].heading.empty())
            continue;
        const bool isText = !listing.rows.empty() && listing.rows.front()[c].kind == Cell::Kind::Text;
        align.push_back(isText ? TextTable::Align::Left : TextTable::Align::Right);
        headings.push_back(listing.columns[c].heading);
    }
    TextTable table(align, headings);
    for (const auto &row : listing.rows) {
        std::vector<std::string> cells;
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (!listing.columns[c].heading.empty())
                cells.push_back(cellText(row[c]));
        }
        table.add(cells);
    }
    return table.text();
}

std::string listingJson(const CatalogueListing &listing)
{
    Json rows = Json::array();
    for (const auto &row : listing.rows) {
        Json object = Json::object();
        for (std::size_t c = 0; c < row.size(); ++c)
            object[listing.columns[c].key] = cellJson(row[c]);
        rows.push_back(std::move(object));
    }
    return dumped({ { listing.name, rows } });
}

} // namespace trainyard
