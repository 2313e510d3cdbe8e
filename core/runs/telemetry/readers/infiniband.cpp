// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/infiniband.h"

#include "core/runs/telemetry/readers/fabric_graph.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

/// Between the first two quotes at or behind `from`; empty where there are none.
std::string_view quoted(std::string_view line, std::size_t from = 0)
{
    const auto open = line.find('"', from);
    const auto close = open == std::string_view::npos ? open : line.find('"', open + 1);
    return close == std::string_view::npos ? std::string_view() : line.substr(open + 1, close - open - 1);
}

/// "Switch  24 "S-0054…"  # "name" …" and "Ca  2 "H-…"  # …" of ibnetdiscover.
bool isHeading(std::string_view line)
{
    return (line.starts_with("Switch") || line.starts_with("Ca") || line.starts_with("Rt"))
        && (quoted(line).starts_with("S-") || quoted(line).starts_with("H-") || quoted(line).starts_with("R-"));
}

std::string_view commentOf(std::string_view line)
{
    const auto quotes = line.find('"');
    const auto end = quotes == std::string_view::npos ? quotes : line.find('"', quotes + 1);
    const auto hash = end == std::string_view::npos ? end : line.find('#', end);
    return hash == std::string_view::npos ? std::string_view() : trimmed(line.substr(hash + 1));
}

struct NetDiscover {
    FabricGraph graph;
    std::string at; // device of the lines below its heading

    void addHeading(std::string_view line)
    {
        at = quoted(line);
        graph.addDevice(at, quoted(commentOf(line)), at.starts_with("S-"));
    }

    /// `[22] "H-0008f10403961354"[1](8f10403961355)  # "MT23108" lid 4 4xSDR`: false where it is none.
    bool addPort(std::string_view line)
    {
        const auto port = leadingInteger(line.substr(1));
        const std::string key(quoted(line));
        const auto open = line.find("\"[");
        const auto otherPort = open == std::string_view::npos ? std::nullopt : leadingInteger(line.substr(open + 2));
        const std::string_view comment = commentOf(line);
        if (at.empty() || !port || !otherPort || key.empty() || comment.empty())
            return false;
        // of an adapter's line: # lid 16 lmc 1 "SW-6IB4 Voltaire" lid 3 4xSDR
        graph.addDevice(key, quoted(comment), key.starts_with("S-"));
        const auto blank = comment.find_last_of(' ');
        graph.addLink(
            at, *port, key, *otherPort, blank == std::string_view::npos ? 0 : linkSpeed(comment.substr(blank)));
        return true;
    }
};

/// `3  41[  ] ==( 4X  53.125 Gbps Active/  LinkUp)==>  4  1[  ] "name" ( )` of iblinkinfo.
struct LinkInfo {
    FabricGraph graph;
    std::string name;
    bool isSwitch = false;

    static bool isHeading(std::string_view line)
    {
        return (line.starts_with("CA:") || line.starts_with("Switch") || line.starts_with("RT:"))
            && line.ends_with(':');
    }

    void addHeading(std::string_view line)
    {
        isSwitch = line.starts_with("Switch");
        name = trimmed(line.substr(isSwitch ? 6 : 3, line.size() - (isSwitch ? 7 : 4)));
        if (name.starts_with(':'))
            name = trimmed(std::string_view(name).substr(1));
        if (const auto blank = name.find(' '); name.starts_with("0x") && blank != std::string::npos)
            name = trimmed(std::string_view(name).substr(blank));
    }

    /// False where it is no port; ports that are down are ports.
    bool addPort(std::string_view line, std::int64_t &down)
    {
        const auto arrow = line.find("==("), end = line.find(")==>");
        if (arrow == std::string_view::npos || end == std::string_view::npos || end < arrow)
            return false;
        const std::string_view state = line.substr(arrow + 3, end - arrow - 3);
        if (state.find("Active") == std::string_view::npos) {
            ++down;
            return true;
        }
        auto own = fieldsOf(line.substr(0, arrow));
        if (!own.empty() && own[0].starts_with("0x"))
            own.erase(own.begin());
        const std::string_view behind = line.substr(end + 4);
        const auto other = fieldsOf(behind.substr(0, behind.find('"')));
        if (own.size() < 2 || other.size() < 2 || name.empty())
            return false;
        const auto lid = leadingInteger(own[0]), port = leadingInteger(own[1]);
        const auto otherLid = leadingInteger(other[0]), otherPort = leadingInteger(other[1]);
        if (!lid || !port || !otherLid || !otherPort)
            return false;
        const std::string from = "lid " + std::to_string(*lid), to = "lid " + std::to_string(*otherLid);
        graph.addDevice(from, name, isSwitch);
        graph.addDevice(to, quoted(behind), isSwitchName(quoted(behind)));
        graph.addLink(from, *port, to, *otherPort, linkSpeed(state));
        return true;
    }

    /// Switches that have no section of their own are told by their description: "MF0;ibswitch254:MQM8700/U1".
    static bool isSwitchName(std::string_view description)
    {
        return description.find(';') != std::string_view::npos && description.find("/U") != std::string_view::npos;
    }
};

} // namespace

int looksLikeIbNetDiscover(std::string_view, std::string_view head)
{
    if (head.find("# Topology file: generated on") != std::string_view::npos)
        return 92;
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 500 && lines.next(line); ++seen)
        if (isHeading(line.text))
            return 90;
    return 0;
}

Expected<Recording> readIbNetDiscover(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::IbNetDiscover);
    NetDiscover fabric;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        if (isHeading(text)) {
            fabric.addHeading(text);
        } else if (text.starts_with('[')) {
            const bool isWhole = fabric.addPort(text);
            scribe.source().taken += isWhole;
            scribe.source().isTruncated |= !isWhole && line.isOpen;
            scribe.drop(line.isOpen ? "a last line that is cut" : "lines of ports that cannot be read", !isWhole);
        }
    }
    if (fabric.graph.isEmpty())
        return refusal(source, "It is the output of ibnetdiscover without a link");
    fabric.graph.write(scribe);
    return scribe.finish();
}

int looksLikeIbLinkInfo(std::string_view, std::string_view head)
{
    bool hasHeading = false;
    TextLines lines(head);
    TextLine line;
    for (int seen = 0; seen < 200 && lines.next(line); ++seen) {
        const std::string_view text = trimmed(line.text);
        if (hasHeading && text.find("==(") != std::string_view::npos)
            return 92;
        hasHeading |= LinkInfo::isHeading(text);
    }
    return 0;
}

Expected<Recording> readIbLinkInfo(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::IbLinkInfo);
    LinkInfo fabric;
    std::int64_t down = 0;
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        const std::string_view text = trimmed(line.text);
        if (LinkInfo::isHeading(text)) {
            fabric.addHeading(text);
        } else if (!text.empty()) {
            const bool isWhole = fabric.addPort(text, down);
            scribe.source().taken += isWhole;
            scribe.source().isTruncated |= !isWhole && line.isOpen;
            scribe.drop(line.isOpen ? "a last line that is cut" : "lines that are no port", !isWhole);
        }
    }
    scribe.drop("ports that are down", down);
    if (fabric.graph.isEmpty())
        return refusal(source, "It is the output of iblinkinfo without a link that is active");
    fabric.graph.write(scribe);
    return scribe.finish();
}

} // namespace trainyard::readers
