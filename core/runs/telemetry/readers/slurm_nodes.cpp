// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/slurm_nodes.h"

#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <map>

namespace trainyard::readers {

namespace {

constexpr double kMebibyte = 1024.0 * 1024.0; // RealMemory counts them
constexpr double kMostMebibytes = 1e12;

struct Gpus {
    std::string name;
    std::int64_t count = 0;
};

std::int64_t boundedCount(std::string_view text)
{
    return std::clamp<std::int64_t>(integerIn(text).value_or(0), 0, 1024);
}

/// GPUs of "gpu:h100:8(S:0-1),nic:2" by type; commas within parentheses part nothing.
std::vector<Gpus> gpusOfGres(std::string_view gres)
{
    std::string plain;
    int depth = 0;
    for (const char byte : gres) {
        depth += byte == '(' ? 1 : 0;
        if (depth == 0)
            plain += byte;
        depth -= byte == ')' && depth > 0 ? 1 : 0;
    }
    std::vector<Gpus> all;
    for (const std::string_view one : fieldsAt(plain, ',')) {
        const auto parts = fieldsAt(one, ':');
        if (parts.empty() || parts[0] != "gpu")
            continue;
        const bool hasCount = parts.size() > 1 && integerIn(parts.back());
        Gpus gpus { .count = hasCount ? boundedCount(parts.back()) : 1 };
        if (parts.size() > (hasCount ? 2u : 1u))
            gpus.name = parts[1];
        all.push_back(std::move(gpus));
    }
    return all;
}

/// The same of "cpu=224,mem=2000000M,gres/gpu=8,gres/gpu:h100=8".
std::vector<Gpus> gpusOfTres(std::string_view tres)
{
    std::vector<Gpus> all;
    Gpus total;
    for (const std::string_view one : fieldsAt(tres, ',')) {
        const auto equals = one.find('=');
        if (!one.starts_with("gres/gpu") || equals == std::string_view::npos)
            continue;
        const std::string_view key = one.substr(8, equals - 8);
        if (key.starts_with(':'))
            all.push_back({ std::string(key.substr(1)), boundedCount(one.substr(equals + 1)) });
        else if (key.empty())
            total.count = boundedCount(one.substr(equals + 1));
    }
    if (all.empty() && total.count > 0)
        all.push_back(total);
    return all;
}

class NodeList {
public:
    explicit NodeList(const SourceText &source)
        : m_scribe(source, SourceKind::SlurmNodes)
    {
    }
    [[nodiscard]] RecordingBuilder &scribe() { return m_scribe; }

    void add(
        std::string_view name, std::string_view gres, std::string_view tres, double mebibytes, std::string_view state)
    {
        if (name.empty())
            return;
        auto gpus = gpusOfGres(gres);
        if (gpus.empty())
            gpus = gpusOfTres(tres);
        std::ranges::stable_sort(gpus, std::greater(), &Gpus::count);
        RecordedNodes node;
        for (const Gpus &one : gpus) {
            if (one.name == gpus.front().name)
                node.gpus = std::min(node.gpus + static_cast<int>(one.count), 1024);
            else
                m_scribe.note("Node " + std::string(name) + " has GPUs of several types: only its "
                    + std::to_string(gpus.front().count) + " " + gpus.front().name + " are taken");
        }
        if (!gpus.empty())
            node.gpu = gpus.front().name;
        node.hostMemoryBytes = mebibytes * kMebibyte;
        if (const std::string low = lowered(state); low.find("down") != low.npos || low.find("drain") != low.npos
            || low.find("fail") != low.npos || low.find("future") != low.npos)
            ++m_out[low.find("down") != low.npos ? "down" : low.find("drain") != low.npos ? "drained" : "out of use"];
        ++m_scribe.source().taken;
        addNode(m_scribe, std::string(name), std::move(node));
    }

    Expected<Recording> finish(const SourceText &source)
    {
        if (m_scribe.recording().nodes.empty())
            return refusal(source, "It is a list of Slurm's nodes without a node");
        for (const auto &[state, count] : m_out)
            m_scribe.note(counted(count, "node is ", "nodes are ") + state + "; nodes are counted all the same");
        return m_scribe.finish();
    }

private:
    RecordingBuilder m_scribe;
    std::map<std::string, std::size_t> m_out;
};

/// The value of "Key=" in a node's text: values have blanks in them, so it ends where the next key begins.
std::string_view valueOf(std::string_view text, std::string_view key)
{
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
        if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\t')
            continue;
        const std::size_t begin = at + key.size();
        for (std::size_t blank = text.find(' ', begin); blank != std::string_view::npos;
             blank = text.find(' ', blank + 1)) {
            std::size_t end = blank + 1;
            while (end < text.size() && (isLetter(text[end]) || text[end] == ':' || text[end] == '_'))
                ++end;
            if (end > blank + 1 && end < text.size() && text[end] == '=' && text[blank + 1] >= 'A'
                && text[blank + 1] <= 'Z')
                return trimmed(text.substr(begin, blank - begin));
        }
        return trimmed(text.substr(begin));
    }
    return {};
}

void addText(NodeList &nodes, const std::string &text)
{
    if (text.empty())
        return;
    nodes.add(valueOf(text, "NodeName="), valueOf(text, "Gres="), valueOf(text, "CfgTRES="),
        amountIn(valueOf(text, "RealMemory="), kMostMebibytes), valueOf(text, "State="));
}

} // namespace

int looksLikeSlurmNodes(std::string_view, std::string_view head)
{
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 50 && lines.next(line); ++seen)
        if (trimmed(line.text).starts_with("NodeName=")) {
            const std::string_view rest = head.substr(line.begin);
            const auto has = [&](std::string_view key) {
                return rest.substr(0, 8192).find(key) != std::string_view::npos;
            };
            // slurm.conf has NodeName lines too, without what scontrol counts
            return has("CPUAlloc=") || has("CPUTot=") || has("NodeAddr=") || has("Arch=") ? 92 : 0;
        }
    return 0;
}

Expected<Recording> readSlurmNodes(const SourceText &source, const SourceOptions &options)
{
    NodeList nodes(source);
    std::string node;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        if (text.starts_with("NodeName=")) {
            addText(nodes, node);
            node = text;
        } else if (!node.empty() && node.size() < 65536) {
            node.append(" ").append(text);
        }
    }
    // what a cut file ends with may be half a node: without its memory it is not believed
    if (node.find(" RealMemory=") != std::string::npos)
        addText(nodes, node);
    else if (!node.empty()) {
        nodes.scribe().source().isTruncated = true;
        nodes.scribe().drop("a last node that is cut");
    }
    return nodes.finish(source);
}

int looksLikeSlurmNodesJson(std::string_view, std::string_view head)
{
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    if (!trimmed(head.substr(0, 256)).starts_with('{') || !has("\"nodes\""))
        return 0;
    return has("\"real_memory\"") && (has("\"gres\"") || has("\"tres\"") || has("\"slurmd_version\"")) ? 92 : 0;
}

Expected<Recording> readSlurmNodesJson(const SourceText &source, const SourceOptions &)
{
    LooseJson json;
    NodeList nodes(source);
    if (json.read(source.text)) {
        nodes.scribe().source().isTruncated |= json.isTruncated();
        for (const LooseJsonValue node : json.root()["nodes"]) {
            if (json.isTruncated() && !node["real_memory"]) {
                nodes.scribe().drop("a last node that is cut");
                continue;
            }
            std::string state = node["state"].text();
            for (const LooseJsonValue one : node["state"])
                state.append(" ").append(one.text());
            const std::string name = node["name"].text();
            nodes.add(name.empty() ? node["hostname"].text() : name, node["gres"].text(), node["tres"].text(),
                amountIn(node["real_memory"].text(), kMostMebibytes), state);
        }
    }
    return nodes.finish(source);
}

} // namespace trainyard::readers
