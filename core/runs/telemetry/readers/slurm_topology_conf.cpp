// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/hostlist.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/slurm_topology.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <set>

namespace trainyard::readers {

namespace {

/// "SwitchName=s0 Nodes=dev[0-5]" as keys, in lower case, and values.
struct KeyedValue {
    std::string key;
    std::string_view value;
};

std::vector<KeyedValue> settingsOf(std::string_view line)
{
    std::vector<KeyedValue> settings;
    for (const std::string_view field : fieldsOf(line.substr(0, line.find('#'))))
        if (const auto equals = field.find('='); equals != std::string_view::npos && equals > 0)
            settings.push_back({ lowered(field.substr(0, equals)), field.substr(equals + 1) });
    return settings;
}

bool startsAnEntry(const std::vector<KeyedValue> &settings)
{
    return !settings.empty()
        && (settings[0].key == "switchname" || settings[0].key == "blockname" || settings[0].key == "blocksizes");
}

class Conf {
public:
    explicit Conf(const SourceText &source)
        : m_scribe(source, SourceKind::SlurmTopology)
    {
    }

    void add(std::string_view line, bool isFinished)
    {
        const auto settings = settingsOf(line);
        if (settings.empty())
            return m_scribe.drop("lines that are no entry", !trimmed(line.substr(0, line.find('#'))).empty());
        std::string name;
        std::vector<std::string> below;
        bool isBlock = false, isWhole = true;
        for (const auto &[key, value] : settings) {
            if (key == "switchname" || key == "blockname") {
                name = value;
                isBlock = key == "blockname";
            } else if (key == "nodes" || key == "switches") {
                isWhole = expandHosts(value, below) && isWhole;
            } else if (key == "blocksizes") {
                m_scribe.note("Slurm plans in blocks of " + std::string(value) + " nodes");
                ++m_scribe.source().taken;
            } else if (key == "linkspeed") {
                m_scribe.note("It has LinkSpeed, which means nothing to Slurm and has no unit: not taken");
            }
        }
        if (name.empty())
            return;
        m_named += below.size();
        if (!isWhole || below.empty() || m_named > kMostHosts) {
            m_scribe.source().isTruncated |= !isFinished;
            return m_scribe.drop(isFinished ? "switches whose list of names is none" : "a last line that is cut");
        }
        if (!m_known.insert(name).second)
            return m_scribe.drop("switches that have the name of another");
        ++m_scribe.source().taken;
        addSwitch(m_scribe, std::move(name), std::move(below), isBlock);
    }

    Expected<Recording> finish(const SourceText &source)
    {
        if (m_scribe.recording().switches.empty())
            return refusal(
                source, "It is a Slurm topology.conf without a switch or a block that names what is below it");
        addNodesOfSwitches(m_scribe);
        return m_scribe.finish();
    }

private:
    RecordingBuilder m_scribe;
    std::set<std::string> m_known;
    std::size_t m_named = 0;
};

} // namespace

int looksLikeSlurmConf(std::string_view, std::string_view head)
{
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 200 && lines.next(line); ++seen) {
        const auto settings = settingsOf(line.text);
        if (startsAnEntry(settings))
            return 92;
        if (!trimmed(line.text.substr(0, line.text.find('#'))).empty())
            return 0;
    }
    return 0;
}

Expected<Recording> readSlurmConf(const SourceText &source, const SourceOptions &options)
{
    Conf conf(source);
    std::string joined; // lines that go on behind a backslash
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        if (text.ends_with('\\')) {
            joined.append(text.substr(0, text.size() - 1));
            continue;
        }
        conf.add(joined.append(text), !line.isOpen);
        joined.clear();
    }
    conf.add(joined, false);
    return conf.finish(source);
}

} // namespace trainyard::readers
