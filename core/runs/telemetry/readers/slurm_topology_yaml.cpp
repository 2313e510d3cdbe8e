// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/hostlist.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/slurm_topology.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <set>

namespace trainyard::readers {

namespace {

constexpr std::array<std::string_view, 5> kPlugins { "tree", "block", "flat", "ring", "torus3d" };
constexpr std::array<std::string_view, 4> kLists { "switches", "blocks", "rings", "toruses" };
constexpr std::array<std::string_view, 4> kNameKeys { "switch", "block", "ring", "name" };

bool holds(std::span<const std::string_view> words, std::string_view word)
{
    return std::ranges::find(words, word) != words.end();
}

/// "  - switch: s1" as its depth (of what follows the dash), dash, key and value.
struct YamlLine {
    std::size_t depth = 0;
    bool isItem = false;
    std::string_view key, value; // a plain item has no key
};

YamlLine yamlLine(std::string_view line)
{
    YamlLine split;
    if (const auto hash = line.find(" #"); hash != std::string_view::npos)
        line = line.substr(0, hash);
    while (split.depth < line.size() && line[split.depth] == ' ')
        ++split.depth;
    std::string_view rest = line.substr(split.depth);
    if (rest.starts_with("- ")) {
        split.isItem = true;
        const auto next = std::min(rest.find_first_not_of(' ', 1), rest.size());
        split.depth += next;
        rest.remove_prefix(next);
    }
    if (rest.starts_with('#') || rest.starts_with("---"))
        rest = {};
    const auto colon = rest.find(':');
    if (colon != std::string_view::npos)
        split.key = trimmed(rest.substr(0, colon));
    split.value = trimmed(colon != std::string_view::npos ? rest.substr(colon + 1) : rest);
    if (split.value.size() > 1 && (split.value.front() == '"' || split.value.front() == '\'')
        && split.value.back() == split.value.front())
        split.value = split.value.substr(1, split.value.size() - 2);
    return split;
}

struct Entry {
    std::string name;
    std::vector<std::string> below;
    std::array<std::int64_t, 3> dimensions {};
    bool isWhole = true;
};

struct Topology {
    std::string name, plugin;
    bool isDefault = false;
    std::vector<Entry> entries;
    std::vector<std::string> blockSizes;
};

/// Follows the depth of lines: topology, plugin, list, entry.
class Yaml {
public:
    explicit Yaml(RecordingBuilder &scribe)
        : m_scribe(scribe)
    {
    }

    void add(const YamlLine &line, bool isFinished)
    {
        if (line.key.empty() && line.value.empty())
            return;
        if (line.isItem && line.key == "topology") {
            m_topologies.push_back({ .name = std::string(line.value) });
            m_depth = line.depth;
            m_entryDepth = 0;
            m_list = {};
            return;
        }
        if (m_topologies.empty())
            return m_scribe.drop("lines before the first topology");
        Topology &topology = m_topologies.back();
        if (line.depth == m_depth && line.key == "topology") {
            topology.name = line.value;
        } else if (line.depth == m_depth && line.key == "cluster_default") {
            topology.isDefault = line.value == "true" || line.value == "yes";
        } else if (line.depth == m_depth && holds(kPlugins, line.key)) {
            topology.plugin = line.key;
        } else if (line.depth > m_depth) {
            addInside(topology, line, isFinished);
        } else {
            m_scribe.drop("settings that are not known");
        }
    }

    [[nodiscard]] std::vector<Topology> &topologies() { return m_topologies; }

private:
    void addInside(Topology &topology, const YamlLine &line, bool isFinished)
    {
        if (!line.isItem && (holds(kLists, line.key) || line.key == "block_sizes") && canBeginList(line)) {
            m_list = line.key == "block_sizes" ? "block_sizes" : "entries";
            m_entryDepth = 0;
            if (line.key == "block_sizes" && !line.value.empty())
                topology.blockSizes.emplace_back(line.value);
        } else if (m_list == "block_sizes") {
            topology.blockSizes.emplace_back(line.value);
        } else if (m_list == "entries") {
            if (line.isItem && (m_entryDepth == 0 || line.depth <= m_entryDepth)) {
                m_entryDepth = line.depth;
                topology.entries.emplace_back();
            }
            if (!topology.entries.empty())
                addToEntry(topology.entries.back(), line, isFinished);
        }
    }

    /// Whether a key can begin a list: it does not stand within an entry.
    [[nodiscard]] bool canBeginList(const YamlLine &line) const
    {
        return m_entryDepth == 0 || line.depth < m_entryDepth;
    }

    void addToEntry(Entry &entry, const YamlLine &line, bool isFinished)
    {
        if (line.depth == m_entryDepth) {
            m_parent = line.key;
            if (holds(kNameKeys, line.key)) {
                entry.name = line.value;
            } else if (line.key == "nodes" || line.key == "children") {
                entry.isWhole = expandHosts(line.value, entry.below) && entry.isWhole;
                m_named += entry.below.size();
                entry.isWhole = entry.isWhole && m_named <= kMostHosts;
                m_scribe.source().isTruncated |= !entry.isWhole && !isFinished;
            }
        } else if (m_parent == "dims" && line.key.size() == 1 && line.key[0] >= 'x' && line.key[0] <= 'z') {
            entry.dimensions[static_cast<std::size_t>(line.key[0] - 'x')] =
                std::clamp<std::int64_t>(integerIn(line.value).value_or(0), 0, 1 << 20);
        }
    }

    RecordingBuilder &m_scribe;
    std::vector<Topology> m_topologies;
    std::size_t m_depth = 0, m_entryDepth = 0;
    std::string m_list, m_parent;
    std::size_t m_named = 0;
};

void writeTopology(RecordingBuilder &scribe, Topology &topology)
{
    std::set<std::string> known;
    for (Entry &entry : topology.entries) {
        if (entry.name.empty() || entry.below.empty() || !entry.isWhole) {
            scribe.drop("switches without a name or without a list of names below them");
            continue;
        }
        if (!known.insert(entry.name).second) {
            scribe.drop("switches that have the name of another");
            continue;
        }
        if (const auto &[x, y, z] = entry.dimensions; topology.plugin == "torus3d" && x * y > 0 && z > 0)
            scribe.note(entry.name + " is a torus of " + std::to_string(x) + " x " + std::to_string(y) + " x "
                + std::to_string(z) + " nodes: which of them are neighbours is not taken");
        ++scribe.source().taken;
        addSwitch(scribe, std::move(entry.name), std::move(entry.below), topology.plugin == "block");
    }
    if (topology.plugin == "ring" && !known.empty())
        scribe.note("Its nodes stand in rings: which of them are neighbours is not taken");
    std::string sizes;
    for (const std::string &size : topology.blockSizes)
        sizes.append(sizes.empty() ? "" : ",").append(size);
    if (!sizes.empty())
        scribe.note("Slurm plans in blocks of " + sizes + " nodes");
    addNodesOfSwitches(scribe);
}

} // namespace

int looksLikeSlurmYaml(std::string_view, std::string_view head)
{
    bool hasTopology = false;
    TextLines lines(head);
    TextLine raw;
    for (int seen = 0; seen < 400 && lines.next(raw); ++seen) {
        const YamlLine line = yamlLine(raw.text);
        if (!hasTopology && !line.key.empty()
            && !(line.isItem && (line.key == "topology" || line.key == "cluster_default")))
            return 0;
        hasTopology |= line.isItem && (line.key == "topology" || line.key == "cluster_default");
        if (hasTopology && !line.isItem && holds(kPlugins, line.key))
            return 92;
    }
    return 0;
}

Expected<Recording> readSlurmYaml(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::SlurmTopology);
    Yaml yaml(scribe);
    ReadingPace pace(source, options);
    TextLines lines(source.text);
    for (TextLine line; lines.next(line);) {
        if (pace.isStopped(line.begin))
            return pace.stopped();
        yaml.add(yamlLine(line.text), !line.isOpen);
    }
    auto &all = yaml.topologies();
    if (all.empty())
        return refusal(source, "It is a Slurm topology.yaml without a topology");
    auto chosen = std::ranges::find_if(all, &Topology::isDefault);
    if (chosen == all.end())
        chosen = std::ranges::find_if(all, [](const Topology &one) { return !one.entries.empty(); });
    if (chosen == all.end())
        chosen = all.begin();
    scribe.drop("topologies that are not the cluster's default", static_cast<std::int64_t>(all.size()) - 1);
    if (all.size() > 1)
        scribe.note("Of its " + std::to_string(all.size()) + " topologies " + chosen->name + " is read");
    writeTopology(scribe, *chosen);
    if (scribe.recording().switches.empty() && chosen->plugin == "flat")
        scribe.note("Its topology is flat: it tells nothing of switches, nor which nodes there are");
    else if (scribe.recording().switches.empty())
        return refusal(
            source, "It is a Slurm topology.yaml whose topology " + chosen->name + " names no switch with nodes");
    return scribe.finish();
}

} // namespace trainyard::readers
