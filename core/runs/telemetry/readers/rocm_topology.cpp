// SPDX-License-Identifier: GPL-3.0-or-later
// What rocm-smi --showtopo prints: several matrices over the GPUs of a node, of which the one of link types counts.
#include "core/base/words.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/smi_topology.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <map>

namespace trainyard::readers {

namespace {

constexpr std::string_view kLinkTypes = "Link Type between two GPUs";
constexpr std::size_t kMostGpusOfRocm = 512;

bool isRocmGpu(std::string_view word)
{
    return word.starts_with("GPU") && word.size() > 3 && word.size() < 8
        && std::ranges::all_of(word.substr(3), isDigit);
}

} // namespace

int looksLikeRocmTopology(std::string_view, std::string_view head)
{
    return head.find(kLinkTypes) != head.npos ? 94 : 0;
}

Expected<Recording> readRocmTopology(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::SmiTopology);
    std::map<std::string, int, std::less<>> links; // XGMI links of each GPU
    bool isInside = false;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        if (text.starts_with("==="))
            isInside = text.find(kLinkTypes) != text.npos;
        const auto fields = fieldsOf(text);
        if (!isInside || fields.size() < 2 || !isRocmGpu(fields[0]) || isRocmGpu(fields[1])
            || links.size() >= kMostGpusOfRocm)
            continue;
        ++scribe.source().taken;
        links[std::string(fields[0])] =
            static_cast<int>(std::ranges::count(fields.begin() + 1, fields.end(), std::string_view("XGMI")));
    }
    if (links.empty())
        return refusal(source, "It is a topology of rocm-smi without a row of a GPU");
    RecordedNodes node;
    node.gpus = static_cast<int>(links.size());
    const int most = std::ranges::max_element(links, {}, [](const auto &one) { return one.second; })->second;
    std::vector<std::string> without;
    for (const auto &[gpu, count] : links)
        if (most > 0 && count < most)
            without.push_back(gpu);
    if (!without.empty()) {
        node.faults.push_back(joined(without, ", ") + (without.size() == 1 ? " has" : " have")
            + " fewer XGMI links than another GPU of the node, which has " + std::to_string(most)
            + ": between some pairs bytes take PCIe");
        scribe.note(node.faults.back());
    }
    scribe.note(most > 0 ? "A GPU is joined with " + std::to_string(most)
                + " others by XGMI; what one link carries is "
                  "that of its type, which it does not name"
                         : "Its GPUs are joined by PCIe alone");
    addNode(scribe, {}, std::move(node));
    return scribe.finish();
}

} // namespace trainyard::readers
