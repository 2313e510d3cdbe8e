// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the links inside a node (core/facts/network/collectives.h) to measured collectives, and TCP between a cloud's
// machines to measured transfers, and writes them into network.json, whose other entries stay as they are:
//
//   fit-network FOLDER resources/catalog/network.json DATE
//
// FOLDER holds aiconfigurator_nccl.json (messages in elements: half is two bytes), collective_deepep.json and
// sailor_gcp_network.json. Every fifth row is held out and only judged.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/network/collectives.h"
#include "core/systems/experts/fan_out.h"
#include "tools/fit_kernels/fitting.h"
#include "tools/fit_network/tcp_fit.h"

#include <fstream>
#include <iostream>
#include <map>
#include <optional>

using namespace trainyard;

namespace {

struct Generation {
    const char *architecture;
    std::vector<std::pair<const char *, const char *>> tables; // with the GPU that each was measured on
};
const std::vector<Generation> kGenerations = {
    { "Hopper", { { "h100_sxm", "h100-sxm-80gb" }, { "h200_sxm", "h200-sxm-141gb" } } },
    { "Ampere", { { "a100_sxm", "a100-sxm-80gb" } } },
    { "Blackwell", { { "b200_sxm", "b200-sxm-180gb" }, { "gb200", "gb200-186gb" } } }
};

struct Row {
    std::string operation;
    int ranks = 1;
    Bytes size;
    ExpertTraffic traffic;
    BytesPerSecond link;
    double seconds = 0;
};

constexpr CurveParameter<LinkClass> kCollective[] = {
    { "fraction", &LinkClass::fraction, { 0.75, 0.2, 1.5 } },
    { "start_us", &LinkClass::startUs, { 6, 0.5, 50 } },
    { "step_us", &LinkClass::stepUs, { 1, 0.05, 10 } },
    { "ramp_us", &LinkClass::rampUs, { 20, 0.1, 500 } },
    { "ramp_bytes", &LinkClass::rampBytes, { 4e6, 1e4, 1e9 } },
    { "own_share", &LinkClass::ownShare, { 0.4, 0.01, 3 } },
    { "reduce_gain", &LinkClass::reduceGain, { 1.05, 0.5, 2 } },
    { "exchange_gain", &LinkClass::exchangeGain, { 1, 0.3, 2 } },
    { "switch_gain", &LinkClass::switchGain, { 1.2, 0.2, 3 } },
};
constexpr CurveParameter<LinkClass> kExpert[] = {
    { "expert_start_us", &LinkClass::expertStartUs, { 30, 1, 200 } },
    { "expert_fraction", &LinkClass::expertFraction, { 0.6, 0.05, 5 } },
    { "expert_pass_fraction", &LinkClass::expertPassFraction, { 0.5, 0.05, 5 } },
};
constexpr double kSwitchRanks = 8; // the measured groups that reduce in switches

RankGroup groupOf(const Row &row, const LinkClass &kind)
{
    const Link link { row.link, &kind };
    return { row.ranks, row.ranks, link, link };
}

double logError(const Row &row, const LinkClass &kind)
{
    const RankGroup group = groupOf(row, kind);
    const Seconds time = row.operation == "all_reduce" ? allReduceTime(row.size, group)
        : row.operation == "all_gather"                ? allGatherTime(row.size, group)
        : row.operation == "reduce_scatter"            ? reduceScatterTime(row.size, group)
        : row.operation == "alltoall"                  ? allToAllTime(row.size, group)
                                                       : expertDispatchTime(row.traffic, group);
    return std::log(time.value / row.seconds);
}

void addCollectives(SplitRows<Row> &rows, const OrderedJson &table, BytesPerSecond link)
{
    for (const OrderedJson &row : table["rows"]) {
        if (row[4] == "half")
            rows.add({ row[0], row[1], Bytes { 2 * row[2].get<double>() }, {}, link, row[3].get<double>() * 1e-3 });
    }
}

/// Dispatch in 8 bits with a 32-bit scale for 128 elements, combine in 16 bits, with the library's default share of the
/// GPU.
void addExperts(SplitRows<Row> &rows, const OrderedJson &table, BytesPerSecond link)
{
    constexpr int kRanks = 8, kUsualProcessors = 20;
    for (const OrderedJson &row : table["rows"]) {
        if (row[5] < kUsualProcessors || row[0] != 1)
            continue;
        const double hidden = row[1], tokens = row[2];
        ExpertTokens routing;
        routing.choices = row[3];
        routing.experts = row[4];
        const double visited = placesVisited(kRanks, routing);
        const auto traffic = [&](double bytes) {
            return ExpertTraffic { tokens, Bytes { hidden * bytes }, routing.choices, visited, 1 };
        };
        rows.add({ "dispatch", kRanks, {}, traffic(1 + 4.0 / 128), link, row[6].get<double>() * 1e-6 });
        rows.add({ "combine", kRanks, {}, traffic(2), link, row[9].get<double>() * 1e-6 });
    }
}

struct Result {
    LinkClass link;
    OrderedJson residuals = OrderedJson::object();
};

void judge(Result &result, const SplitRows<Row> &rows)
{
    std::map<std::string, SplitRows<Row>> kinds;
    for (const Row &row : rows.fitted)
        kinds[row.operation].fitted.push_back(row);
    for (const Row &row : rows.heldOut)
        kinds[row.operation].heldOut.push_back(row);
    const auto error = [&](const Row &row) { return logError(row, result.link); };
    for (const auto &[kind, part] : kinds)
        result.residuals[kind] = residuals(judged(part.fitted, error), judged(part.heldOut, error));
}

/// `relative` lends what the tables of this generation lack.
Result fit(
    const Generation &generation, const LinkClass &relative, const OrderedJson &collectives, const OrderedJson &experts)
{
    SplitRows<Row> measured, dispatched;
    for (const auto &[table, id] : generation.tables) {
        const BytesPerSecond link = gbytesPerSecond(builtinCatalogue().gpu(id)->linkGBps);
        addCollectives(measured, collectives["gpus"][table], link);
        if (experts["gpus"].contains(table))
            addExperts(dispatched, experts["gpus"][table], link);
    }
    const auto judgeOf = [](const LinkClass &link) { return [link](const Row &row) { return logError(row, link); }; };
    Result result { relative };
    result.link.switchRanks = kSwitchRanks;
    result.link =
        fitCurve(result.link, std::span<const CurveParameter<LinkClass>>(kCollective), measured.fitted, judgeOf);
    judge(result, measured);
    if (!dispatched.fitted.empty()) {
        result.link =
            fitCurve(result.link, std::span<const CurveParameter<LinkClass>>(kExpert), dispatched.fitted, judgeOf);
        judge(result, dispatched);
    }
    return result;
}

OrderedJson linkJson(const LinkClass &link)
{
    OrderedJson json = OrderedJson::object();
    for (const auto &parameter : kCollective)
        json[parameter.key] = { link.*parameter.member, "aic-nccl" };
    json["ring_step_us"] = { link.ringStepUs, "nccl-tuning" }; // between nodes nothing was measured
    json["switch_ranks"] = { link.switchRanks, "aic-nccl" };
    for (const auto &parameter : kExpert)
        json[parameter.key] = { link.*parameter.member, "aic-deepep" };
    return json;
}

std::optional<OrderedJson> readJson(const std::string &path)
{
    std::ifstream input(path);
    if (!input) {
        std::cerr << path << ": cannot be read\n";
        return std::nullopt;
    }
    return OrderedJson::parse(input);
}

/// The file with an entry a line, down to the generations.
void write(std::ostream &output, const OrderedJson &value, int depth, int open)
{
    if (!value.is_object() || depth >= open) {
        output << value.dump();
        return;
    }
    output << "{";
    const char *comma = "";
    for (const auto &[key, part] : value.items()) {
        output << comma << "\n" << std::string(std::size_t(2 * depth), ' ') << '"' << key << "\": ";
        write(output, part, depth + 1,
            key == "power" || key == "wan" || key == "experts" ? 0
                : key == "links"                               ? 3
                : key == "generations" || key == "tcp"         ? 3
                : depth + 1 < 2                                ? 2
                                                               : 0);
        comma = ",";
    }
    output << (depth == 0 ? "\n}" : "}");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4) {
        std::cerr << "usage: fit-network FOLDER NETWORK.json DATE\n";
        return 2;
    }
    const std::string folder = argv[1];
    const auto collectives = readJson(folder + "/aiconfigurator_nccl.json"),
               experts = readJson(folder + "/collective_deepep.json"),
               transfers = readJson(folder + "/sailor_gcp_network.json");
    auto network = readJson(argv[2]);
    if (!collectives || !experts || !transfers || !network)
        return 2;
    const auto source = [&](const OrderedJson &table) {
        return OrderedJson { { "title", "fitted by tools/fit_network to " + table["source"].get<std::string>() },
            { "date", argv[3] } };
    };
    (*network)["sources"]["aic-nccl"] = source(*collectives);
    (*network)["sources"]["aic-deepep"] = source(*experts);
    (*network)["sources"]["sailor-tcp"] = source(*transfers);
    OrderedJson &links = (*network)["links"];
    links["generations"] = OrderedJson::object();
    (*network)["residuals"] = OrderedJson::object();
    LinkClass relative;
    relative.ringStepUs = builtinNetwork().device.ringStepUs;
    for (const Generation &generation : kGenerations) {
        const Result result = fit(generation, relative, *collectives, *experts);
        links["generations"][generation.architecture] = linkJson(result.link);
        relative = result.link;
        (*network)["residuals"][generation.architecture] = result.residuals;
        for (const auto &[kind, errors] : result.residuals.items())
            std::cout << generation.architecture << ' ' << kind << ' ' << errors.dump() << std::endl;
    }
    links["device"] = links["generations"]["Ampere"]; // older links and those of other vendors
    links["device"]["switch_gain"][0] = 0;
    fitTcp(*network, *transfers, builtinNetwork().fabric, "sailor-tcp");
    std::ofstream output(argv[2]);
    write(output, *network, 0, 3);
    output << "\n";
    if (!output) {
        std::cerr << argv[2] << ": cannot be written\n";
        return 2;
    }
    return 0;
}
