// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nccl_xml.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/xml_scan.h"

#include <set>

namespace trainyard::readers {

namespace {

/// Names of NCCL_TOPO_PATTERN_… by their numbers (src/include/graph.h).
std::string patternOf(std::string_view number)
{
    static constexpr std::string_view kNames[] = { "", "balanced trees", "split trees", "trees", "rings", "NVLS",
        "CollNet direct" };
    const auto pattern = integerIn(number).value_or(0);
    return pattern > 0 && pattern < 7 ? std::string(kNames[pattern]) : "pattern " + std::string(number.substr(0, 20));
}

std::string figureText(std::string_view text)
{
    return text.empty() || text.size() > 20 ? "?" : std::string(text);
}

} // namespace

int looksLikeNcclGraph(std::string_view, std::string_view head)
{
    return xmlRoot(head) == "graphs" ? 90 : 0;
}

Expected<Recording> readNcclGraph(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::NcclGraph);
    std::set<std::string> gpus;
    const auto open = [&](const XmlElement &element) {
        if (element.name == "gpu" && gpus.size() < 4096)
            gpus.emplace(element["dev"]);
        if (element.name != "graph" || !element.has("nchannels"))
            return;
        ++scribe.source().taken;
        // newer NCCL writes 2.0 where older wrote speeds as whole numbers; GB/s of one channel both
        scribe.note("Graph " + figureText(element["id"]) + ": " + patternOf(element["pattern"]) + " of "
            + figureText(element["nchannels"]) + " channels, of each " + figureText(element["speedintra"])
            + " GB/s within a node by " + figureText(element["typeintra"]) + ", " + figureText(element["speedinter"])
            + " GB/s between nodes by " + figureText(element["typeinter"]));
    };
    scanXml(source, options, { .open = open, .close = [](std::string_view) {} }, scribe);
    if (scribe.source().taken == 0)
        return refusal(source, "It is XML like the graphs that NCCL writes, but without a graph and its channels");
    if (!gpus.empty()) {
        scribe.note("Its channels go over " + counted(gpus.size(), "GPU", "GPUs") + " of a node");
        addNode(scribe, {}, { .gpus = static_cast<int>(gpus.size()) });
    }
    return scribe.finish();
}

} // namespace trainyard::readers
