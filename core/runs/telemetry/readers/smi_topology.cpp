// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/smi_topology.h"

#include "core/base/words.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/nvlink_rates.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostMatrixDevices = 512; // of one matrix
constexpr int kMostLinks = 18; // that any GPU has; more between all pairs take switches

bool isGpuLabel(std::string_view word)
{
    return word.starts_with("GPU") && word.size() > 3 && word.size() < 8
        && std::ranges::all_of(word.substr(3), isDigit);
}

/// Columns of devices: what stands before "CPU Affinity".
std::vector<std::string> devicesOf(std::string_view line)
{
    std::vector<std::string> devices;
    for (const std::string_view field : fieldsOf(line)) {
        if (field == "CPU" || field == "NUMA" || field == "GPU" || devices.size() == kMostMatrixDevices)
            break;
        devices.emplace_back(field);
    }
    return !devices.empty() && isGpuLabel(devices.front()) ? devices : std::vector<std::string>();
}

bool isCell(std::string_view word)
{
    const bool isLinks = word.starts_with("NV") && word.size() > 2 && std::ranges::all_of(word.substr(2), isDigit);
    for (const std::string_view one : { "X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC", "C2C", "N/A", "OK" })
        if (word == one)
            return true;
    return isLinks;
}

/// A header is followed by a row: then its columns are a matrix.
bool isRow(const std::vector<std::string_view> &fields)
{
    return fields.size() > 1 && isGpuLabel(fields[0]) && isCell(fields[1]);
}

struct Matrix {
    std::vector<std::string> devices;
    std::map<std::string, std::vector<std::string>> rows; // by GPU
    std::string gpuName; // that nvidia-smi -L tells around it

    [[nodiscard]] int gpus() const
    {
        return static_cast<int>(
            std::ranges::count_if(devices, [](const std::string &name) { return isGpuLabel(name); }));
    }
    /// Cell of a row; empty where the file does not have it.
    [[nodiscard]] std::string_view cell(const std::vector<std::string> &row, std::size_t column) const
    {
        return column < row.size() ? std::string_view(row[column]) : std::string_view();
    }
};

int linksOf(std::string_view cell)
{
    if (!cell.starts_with("NV"))
        return 0;
    return static_cast<int>(std::clamp<std::int64_t>(leadingInteger(cell.substr(2)).value_or(0), 0, 64));
}

struct Links {
    int ofGpu = 0; // the fewest that a GPU has
    bool isSwitched = false;
    bool areAlike = true;
    /// GPUs that have none, where others have
    std::vector<std::string> without;
};

/// GPUs whose rows have links to nobody.
std::vector<std::string> withoutLinks(const Matrix &matrix)
{
    std::vector<std::string> without;
    for (const auto &[gpu, row] : matrix.rows)
        if (std::ranges::none_of(row, [](const std::string &cell) { return linksOf(cell) > 0; }))
            without.push_back(gpu);
    return without;
}

Links linksIn(const Matrix &matrix)
{
    Links links;
    links.without = withoutLinks(matrix);
    const auto hasNone = [&](const std::string &gpu) { return std::ranges::binary_search(links.without, gpu); };
    int fewest = 1 << 20, most = 0, least = 1 << 20, greatest = 0;
    for (const auto &[gpu, row] : matrix.rows) {
        if (hasNone(gpu))
            continue;
        int sum = 0;
        for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
            const std::string &other = matrix.devices[i];
            if (!isGpuLabel(other) || other == gpu || hasNone(other) || matrix.cell(row, i).empty())
                continue;
            const int count = linksOf(matrix.cell(row, i));
            sum += count;
            fewest = std::min(fewest, count);
            most = std::max(most, count);
        }
        least = std::min(least, sum);
        greatest = std::max(greatest, sum);
    }
    if (most == 0)
        return {};
    // between each pair more than a GPU has for all of them together: they all go to switches
    const int joined = matrix.gpus() - int(links.without.size());
    links.isSwitched = fewest == most && (joined == 2 || most * (joined - 1) > kMostLinks);
    links.ofGpu = links.isSwitched ? most : least;
    links.areAlike = links.isSwitched || (least == greatest && fewest == most);
    return links;
}

int trainingNics(const Matrix &matrix, RecordingBuilder &scribe)
{
    int all = 0, near = 0;
    for (std::size_t i = 0; i < matrix.devices.size(); ++i) {
        if (isGpuLabel(matrix.devices[i]))
            continue;
        ++all;
        near += std::ranges::any_of(matrix.rows, [&](const auto &row) {
            const std::string_view cell = matrix.cell(row.second, i);
            return cell == "PIX" || cell == "PXB";
        });
    }
    const auto missing =
        static_cast<std::size_t>(matrix.gpus()) - std::min(matrix.rows.size(), std::size_t(matrix.gpus()));
    if (missing > 0)
        return all;
    if (near > 0 && near < all)
        scribe.note("Of its " + std::to_string(all) + " NICs the " + std::to_string(near)
            + " that share a PCIe switch with a GPU are taken for training");
    return near > 0 ? near : all;
}

void writeNodes(const SourceText &source, const Matrix &matrix, RecordingBuilder &scribe)
{
    RecordedNodes node;
    node.gpus = matrix.gpus();
    node.gpu = matrix.gpuName;
    node.nics = trainingNics(matrix, scribe);
    const Links links = linksIn(matrix);
    node.isNvlinkSwitched = links.isSwitched;
    if (!links.without.empty()) {
        node.faults.push_back(joined(links.without, ", ") + (links.without.size() == 1 ? " has" : " have")
            + " no NVLink, which the other GPUs of the node have: all that is exchanged with "
            + (links.without.size() == 1 ? "it" : "them") + " takes PCIe");
        scribe.note(node.faults.back());
    }
    if (links.ofGpu > 0) {
        const std::string fileName = std::filesystem::path(source.file).filename().string();
        double rate = nvlinkBytesPerSecond(matrix.gpuName);
        if (const std::string_view named = gpuNamedIn(fileName); rate == 0 && !named.empty()) {
            rate = nvlinkBytesPerSecond(named);
            node.gpu = named;
            scribe.note(
                "It names no GPU: it is taken to have the " + std::string(named) + " that the file's name tells");
        }
        const std::string count = std::to_string(links.ofGpu) + " NVLinks";
        scribe.note(links.isSwitched ? "Each pair of GPUs has " + count
                                     : "A GPU has " + count + " to all others together"
                    + (links.areAlike ? "" : ", the fewest of them; not every pair has as many"));
        if (rate > 0)
            node.nvlinkBytesPerSecond = links.ofGpu * rate;
        else
            scribe.note("It names no GPU, so that nobody knows what one of its NVLinks carries");
    }
    if (matrix.rows.size() < static_cast<std::size_t>(node.gpus)) {
        scribe.source().isTruncated = true;
        scribe.note(
            "It has rows of " + std::to_string(matrix.rows.size()) + " of its " + std::to_string(node.gpus) + " GPUs");
    }
    addNode(scribe, {}, std::move(node));
}

} // namespace

int looksLikeSmiTopology(std::string_view, std::string_view head)
{
    bool hasHeader = false;
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 100 && lines.next(line); ++seen) {
        if (hasHeader && isRow(fieldsOf(line.text)))
            return 93;
        hasHeader |= !devicesOf(line.text).empty();
    }
    return 0;
}

Expected<Recording> readSmiTopology(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::SmiTopology);
    Matrix matrix;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        const auto fields = fieldsOf(text);
        if (const auto open = text.find(" (UUID:"); text.starts_with("GPU ") && open != std::string_view::npos) {
            const auto colon = text.find(": ");
            matrix.gpuName = colon < open ? text.substr(colon + 2, open - colon - 2) : std::string_view();
        } else if (isRow(fields) && !matrix.devices.empty()) {
            const auto known = std::ranges::find(matrix.devices, fields[0]);
            if (known == matrix.devices.end()) {
                scribe.drop("rows of GPUs without a column");
                continue;
            }
            std::vector<std::string> row;
            for (std::size_t i = 1; i < fields.size() && row.size() < matrix.devices.size() && isCell(fields[i]); ++i)
                row.emplace_back(fields[i]);
            if (line.isOpen && row.size() < matrix.devices.size() && !row.empty())
                row.pop_back(); // "NV1" of "NV18"
            scribe.source().isTruncated |= row.size() < matrix.devices.size();
            if (matrix.rows.emplace(fields[0], std::move(row)).second)
                ++scribe.source().taken;
            else
                scribe.drop("rows of another matrix");
        } else if (auto devices = devicesOf(text); !devices.empty() && matrix.devices.empty()) {
            matrix.devices = std::move(devices);
        }
    }
    if (matrix.rows.empty())
        return refusal(source, "It is a matrix of nvidia-smi topo -m without a row of a GPU");
    writeNodes(source, matrix, scribe);
    return scribe.finish();
}

} // namespace trainyard::readers
