// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/collective_rows.h"

#include "core/base/number_text.h"
#include "core/base/or_abort.h"
#include "core/evaluation/validation/embedded_files.h"
#include "core/evaluation/validation/row_reader_internal.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/enum_names.h"
#include "core/systems/experts/exchange.h"

#include <algorithm>
#include <sstream>

namespace trainyard {

namespace {

const std::vector<std::string> kUnits { "us", "logical GB/s", "wire GB/s" };

std::vector<std::string> dispatchNames()
{
    std::vector<std::string> names;
    for (const EnumName &name : kNamesOf<MoeDispatch>)
        names.emplace_back(name.name);
    return names;
}

bool flagAt(const Json &json, const char *key, const std::string &pointer, Faults &faults)
{
    const Json value = json.value(key, Json(false));
    if (!value.is_boolean())
        faults.add(pointer + "/" + key, std::string(key) + " is " + detail::brief(value), "true or false");
    return value.is_boolean() && value.get<bool>();
}

CollectiveRow readRow(const Json &json, const std::string &pointer, Faults &faults)
{
    CollectiveRow row;
    if (!checkObject(json, pointer,
            { "source", "what", "gpu", "nic_gbps", "ranks", "ranks_per_node", "dispatch", "combine", "tokens",
                "token_bytes", "choices", "experts", "groups", "top_groups", "unit", "published", "gated", "is_source",
                "note" },
            faults))
        return row;
    row.source = textAt(json, "source", pointer, faults, true);
    row.what = textAt(json, "what", pointer, faults, true);
    row.gpu = textAt(json, "gpu", pointer, faults, true);
    if (!builtinCatalogue().gpu(row.gpu))
        faults.add(pointer + "/gpu", "there is no GPU \"" + row.gpu + "\"", "an id of the catalogue");
    row.note = json.contains("note") ? textAt(json, "note", pointer, faults) : std::string();
    row.dispatch = MoeDispatch(choiceAt(json, "dispatch", dispatchNames(), pointer, faults));
    row.unit = CollectiveUnit(choiceAt(json, "unit", kUnits, pointer, faults));
    row.isCombine = flagAt(json, "combine", pointer, faults);
    row.isGated = flagAt(json, "gated", pointer, faults);
    row.isSource = flagAt(json, "is_source", pointer, faults);
    const auto number = [&](const char *key, double least) {
        const auto value = numberAt(json, key, pointer, faults);
        if (json.contains(key) && value && *value < least)
            faults.add(pointer + "/" + key, std::string(key) + " is too small", "at least " + plainText(least));
        return std::max(least, value.value_or(least));
    };
    row.nicGbps = number("nic_gbps", 0);
    row.ranks = int(number("ranks", 1));
    row.ranksPerNode = int(number("ranks_per_node", 1));
    row.tokens = number("tokens", 0);
    row.tokenBytes = number("token_bytes", 0);
    row.choices = int(number("choices", 1));
    row.experts = int(number("experts", 1));
    row.groups = int(number("groups", 0));
    row.topGroups = int(number("top_groups", 0));
    row.published = number("published", 1e-9);
    return row;
}

std::string unitText(CollectiveUnit unit, double value)
{
    return (value < 100 || unit != CollectiveUnit::Microseconds ? plainText(value) : wholeText(value))
        + (unit == CollectiveUnit::Microseconds ? " µs" : " GB/s");
}

} // namespace

ExpectedAll<CollectiveRows> parseCollectives(std::string_view text, const std::string &fileName)
{
    const auto document = parseHeaded(text, fileName, "trainyard.collectives");
    if (!document)
        return std::unexpected(document.error());
    Faults faults(fileName);
    checkObject(*document, "", { "format", "version", "note", "sources", "rows" }, faults);
    CollectiveRows result;
    const Json sources = document->value("sources", Json::object()), rows = document->value("rows", Json::array());
    for (const auto &[id, source] : sources.items()) {
        const std::string pointer = "/sources/" + id;
        if (checkObject(source, pointer, { "title", "url" }, faults))
            result.sources.push_back({ id, textAt(source, "title", pointer, faults, true),
                source.contains("url") ? textAt(source, "url", pointer, faults) : std::string() });
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        result.rows.push_back(readRow(rows[i], "/rows/" + std::to_string(i), faults));
        const std::string &source = result.rows.back().source;
        if (std::ranges::find(result.sources, source, &CollectiveSource::id) == result.sources.end())
            faults.add("/rows/" + std::to_string(i) + "/source", "no source is called \"" + source + "\"",
                "a key of /sources");
    }
    if (faults.any())
        return std::unexpected(faults.take());
    return result;
}

const CollectiveRows &builtinCollectives()
{
    static const CollectiveRows rows =
        orAbort(parseCollectives(embeddedValidationFile("collectives.json"), "collectives.json"));
    return rows;
}

double predicted(const CollectiveRow &row)
{
    ExchangeRequest request;
    request.gpu = builtinCatalogue().gpu(row.gpu);
    request.group.ranks = row.ranks;
    request.group.together = row.ranksPerNode;
    request.group.inside = deviceLink(*request.gpu, builtinNetwork());
    request.group.between = fabricLink(gbitsPerSecond(row.nicGbps), builtinNetwork());
    request.tokens = { row.tokens, row.tokenBytes, row.tokenBytes, row.choices, row.experts, row.groups,
        row.topGroups };
    const Exchange exchange = exchangeOf(request, row.dispatch, row.isCombine, 1);
    const double seconds = exchange.alone().value;
    switch (row.unit) {
    case CollectiveUnit::LogicalGBps:
        return exchange.logicalBytes / seconds * 1e-9;
    case CollectiveUnit::WireGBps:
        return std::max(exchange.bytes(Way::Nic), exchange.bytes(Way::Nvlink)) / seconds * 1e-9;
    case CollectiveUnit::Microseconds:
        break;
    }
    return seconds * 1e6;
}

std::string collectiveTable(const CollectiveRows &rows)
{
    std::string text = "| Measured | GPU | Published | Ours | Ours / published − 1 | |\n|---|---|---|---|---|---|\n";
    for (const CollectiveRow &row : rows.rows) {
        const double ours = predicted(row);
        std::string remark = row.isGated ? "held to 10 %" : row.isSource ? "the catalogue rests on it" : "";
        remark += (remark.empty() || row.note.empty() ? "" : "; ") + row.note;
        text += "| " + row.what
            + (row.isCombine          ? ", combine"
                    : row.choices > 1 ? ", dispatch"
                                      : "")
            + " | " + builtinCatalogue().gpu(row.gpu)->name + " | " + unitText(row.unit, row.published) + " | "
            + unitText(row.unit, ours) + " | " + changeText(row.published, ours) + " | " + remark + " |\n";
    }
    return text;
}

std::string withCollectiveTable(const std::string &page)
{
    std::string text;
    std::istringstream in(page);
    bool isReplaced = false;
    for (std::string line; std::getline(in, line);) {
        if (isReplaced && line.starts_with('|'))
            continue;
        isReplaced = line == "<!-- published collectives -->";
        text += line + "\n";
        if (isReplaced)
            text += collectiveTable(builtinCollectives());
    }
    return text;
}

} // namespace trainyard
