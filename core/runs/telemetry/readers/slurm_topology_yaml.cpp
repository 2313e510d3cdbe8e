// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/hostlist.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/settings_tree.h"
#include "core/runs/telemetry/readers/slurm_topology.h"
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

/// "n[1-4]", or a list of such.
bool addHosts(const SettingsNode &node, std::vector<std::string> &below)
{
    if (!node.isList())
        return expandHosts(node.text, below);
    return std::ranges::all_of(node.below, [&](const SettingsNode &item) { return expandHosts(item.text, below); });
}

Entry entryOf(const SettingsNode &node, std::size_t &named)
{
    Entry entry;
    for (const SettingsNode &one : node.below)
        if (holds(kNameKeys, one.key)) {
            entry.name = one.text;
        } else if (one.key == "nodes" || one.key == "children") {
            entry.isWhole = addHosts(one, entry.below) && entry.isWhole;
            named += entry.below.size();
            entry.isWhole = entry.isWhole && named <= kMostHosts;
        } else if (one.key == "dims") {
            for (std::size_t i = 0; i < 3; ++i)
                entry.dimensions[i] = std::clamp<std::int64_t>(
                    integerIn(one.textOf(std::string(1, char('x' + i)))).value_or(0), 0, 1 << 20);
        }
    return entry;
}

/// A topology with its plugin, that one's list and its entries.
Topology topologyOf(const SettingsNode &node, std::size_t &named, RecordingBuilder &scribe)
{
    Topology topology;
    topology.name = node.textOf("topology");
    for (const SettingsNode &one : node.below)
        if (one.key == "cluster_default") {
            topology.isDefault = one.text == "true" || one.text == "yes";
        } else if (holds(kPlugins, one.key)) {
            topology.plugin = one.key;
            for (const SettingsNode &list : one.below) {
                if (list.key == "block_sizes" && !list.isList())
                    topology.blockSizes.push_back(list.text);
                for (const SettingsNode &item : list.below)
                    if (list.key == "block_sizes")
                        topology.blockSizes.push_back(item.text);
                    else if (holds(kLists, list.key) && item.isMap())
                        topology.entries.push_back(entryOf(item, named));
            }
        } else if (one.key != "topology") {
            scribe.drop("settings that are not known");
        }
    return topology;
}

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
    const std::size_t start = head.find("- topology:");
    if (!mayBeYaml(head) || (start == head.npos && head.find("- cluster_default:") == head.npos))
        return 0;
    const auto tree = yamlSettings(head);
    const auto isTopology = [](const SettingsNode &one) {
        return std::ranges::any_of(kPlugins, [&](std::string_view plugin) { return one.find(plugin); });
    };
    return tree && tree->root.isList() && std::ranges::any_of(tree->root.below, isTopology) ? 92 : 0;
}

Expected<Recording> readSlurmYaml(const SourceText &source, const SourceOptions &)
{
    RecordingBuilder scribe(source, SourceKind::SlurmTopology);
    const auto tree = yamlSettings(source.text, source.file);
    if (!tree)
        return std::unexpected(tree.error());
    scribe.source().isTruncated |= tree->cutAt > 0;
    std::vector<Topology> all;
    std::size_t named = 0;
    for (const SettingsNode &one : tree->root.below) {
        if (one.find("topology"))
            all.push_back(topologyOf(one, named, scribe));
        else
            scribe.drop("settings that are not known");
    }
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
