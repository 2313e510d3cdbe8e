// SPDX-License-Identifier: GPL-3.0-or-later
// The one door to yaml-cpp: its events become a tree, so that aliases and depth are bounded while it reads.
#include "core/runs/telemetry/readers/settings_tree.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace trainyard::readers {

namespace {

struct TooManySettings {
    int line = 0;
};

std::size_t nodesOf(const SettingsNode &node)
{
    std::size_t count = 1;
    for (const SettingsNode &one : node.below)
        count += nodesOf(one);
    return count;
}

class YamlEvents final : public YAML::EventHandler {
public:
    [[nodiscard]] bool isComplete() const { return m_isComplete; }
    [[nodiscard]] SettingsNode take() { return std::move(m_root); }

    void OnDocumentStart(const YAML::Mark &) override { }
    void OnDocumentEnd() override { }
    void OnNull(const YAML::Mark &mark, YAML::anchor_t anchor) override { close(nodeAt(mark), anchor); }
    void OnAlias(const YAML::Mark &mark, YAML::anchor_t anchor) override
    {
        const auto known = m_anchors.find(anchor); // none: an alias inside of what it names
        SettingsNode node = known != m_anchors.end() ? known->second : nodeAt(mark);
        count(mark, nodesOf(node));
        close(std::move(node), 0);
    }
    void OnScalar(
        const YAML::Mark &mark, const std::string &tag, YAML::anchor_t anchor, const std::string &value) override
    {
        SettingsNode node = nodeAt(mark);
        node.text = value;
        node.isQuoted = tag == "!";
        close(std::move(node), anchor);
    }
    void OnSequenceStart(
        const YAML::Mark &mark, const std::string &, YAML::anchor_t anchor, YAML::EmitterStyle::value) override
    {
        open(mark, SettingsNode::Kind::List, anchor);
    }
    void OnSequenceEnd() override { closeLast(); }
    void OnMapStart(
        const YAML::Mark &mark, const std::string &, YAML::anchor_t anchor, YAML::EmitterStyle::value) override
    {
        open(mark, SettingsNode::Kind::Map, anchor);
    }
    void OnMapEnd() override { closeLast(); }

private:
    struct Open {
        SettingsNode node;
        YAML::anchor_t anchor;
        /// of a map whose value comes next; of a map, a list or an alias as a key "?"
        std::string key = {};
        bool hasKey = false;
    };

    void count(const YAML::Mark &mark, std::size_t more)
    {
        m_count += more;
        if (m_count > kMostSettings || m_open.size() > kMostSettingsDepth)
            throw TooManySettings { mark.line + 1 };
    }
    SettingsNode nodeAt(const YAML::Mark &mark)
    {
        count(mark, 1);
        SettingsNode node;
        node.line = mark.line + 1;
        return node;
    }
    void open(const YAML::Mark &mark, SettingsNode::Kind kind, YAML::anchor_t anchor)
    {
        SettingsNode node = nodeAt(mark);
        node.kind = kind;
        m_open.push_back({ std::move(node), anchor });
    }
    void closeLast()
    {
        Open last = std::move(m_open.back());
        m_open.pop_back();
        close(std::move(last.node), last.anchor);
    }
    void close(SettingsNode node, YAML::anchor_t anchor)
    {
        if (anchor != 0)
            keep(node, anchor);
        if (m_open.empty()) {
            m_root = std::move(node);
            m_isComplete = true;
            return;
        }
        Open &parent = m_open.back();
        if (parent.node.isMap() && !parent.hasKey) {
            parent.key = node.kind == SettingsNode::Kind::Scalar ? std::move(node.text) : "?";
            parent.hasKey = true;
            return;
        }
        node.key = std::exchange(parent.key, {});
        parent.hasKey = false;
        if (parent.node.isMap() && node.key == "<<")
            return merge(parent.node, node);
        add(parent.node, std::move(node), true);
    }
    void keep(const SettingsNode &node, YAML::anchor_t anchor)
    {
        m_count += nodesOf(node);
        m_anchors[anchor] = node;
    }
    /// The last value of a key counts, but one that stands there goes before one that is merged in.
    static void add(SettingsNode &parent, SettingsNode node, bool isOwn)
    {
        if (parent.isMap() && parent.below.size() < 1000)
            if (const auto known = std::ranges::find(parent.below, node.key, &SettingsNode::key);
                known != parent.below.end()) {
                if (isOwn)
                    *known = std::move(node);
                return;
            }
        parent.below.push_back(std::move(node));
    }
    static void merge(SettingsNode &parent, SettingsNode &from)
    {
        if (from.isList())
            for (SettingsNode &one : from.below)
                merge(parent, one);
        else
            for (SettingsNode &one : from.below)
                add(parent, std::move(one), false);
    }

    SettingsNode m_root;
    std::vector<Open> m_open;
    std::map<YAML::anchor_t, SettingsNode> m_anchors;
    std::size_t m_count = 0;
    bool m_isComplete = false;
};

} // namespace

Expected<SettingsTree> yamlSettings(std::string_view text, const std::string &file)
{
    return settingsUpToError(text, file, [&](std::string_view part, SettingsTree &made) -> Expected<int> {
        std::istringstream stream { std::string(part) };
        try {
            YAML::Parser parser(stream);
            YamlEvents events;
            while (!events.isComplete() && parser.HandleNextDocument(events)) { }
            made.root = events.take();
            YamlEvents rest;
            made.hasMore = parser.HandleNextDocument(rest);
            return 0;
        } catch (const YAML::Exception &wrong) {
            return std::max(1, wrong.mark.line + 1);
        } catch (const TooManySettings &tooMany) {
            return std::unexpected(Error { ErrorCode::BadSyntax, file,
                "Line " + std::to_string(tooMany.line) + ": more settings than " + std::to_string(kMostSettings)
                    + ", with all aliases put in, or more than " + std::to_string(kMostSettingsDepth)
                    + " of them within each other",
                "" });
        } catch (const std::exception &) { // of the stream or of memory
            return 1;
        }
    });
}

} // namespace trainyard::readers
