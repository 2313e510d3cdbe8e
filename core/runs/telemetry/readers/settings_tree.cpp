// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/settings_tree.h"

#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr int kMostSettingsTries = 16;

/// The bytes before a line, counted from 1.
std::size_t beginOfLine(std::string_view text, int line)
{
    std::size_t at = 0;
    for (int i = 1; i < line && at < text.size(); ++i)
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
    return at;
}

void walkFrom(std::string &path, const SettingsNode &node,
    const std::function<void(const std::string &path, const SettingsNode &node)> &take)
{
    if (!node.isMap() && (!node.isList() || node.isListOfScalars()))
        return take(path, node);
    const std::size_t size = path.size();
    for (std::size_t i = 0; i < node.below.size(); ++i) {
        path.append(size > 0 ? "." : "").append(node.isMap() ? node.below[i].key : std::to_string(i));
        if (path.size() <= kLongestArgumentName)
            walkFrom(path, node.below[i], take);
        path.resize(size);
    }
}

} // namespace

bool SettingsNode::isNull() const
{
    return kind == Kind::Scalar && !isQuoted && (text.empty() || text == "~" || lowered(text.substr(0, 5)) == "null");
}

bool SettingsNode::isListOfScalars() const
{
    return isList() && std::ranges::all_of(below, [](const SettingsNode &item) { return item.kind == Kind::Scalar; });
}

const SettingsNode *SettingsNode::find(std::string_view path) const
{
    const SettingsNode *at = this;
    while (at && !path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const auto known = std::ranges::find(at->below, path.substr(0, dot), &SettingsNode::key);
        at = at->isMap() && known != at->below.end() ? &*known : nullptr;
        path = path.substr(std::min(dot + 1, path.size()));
    }
    return at;
}

std::string_view SettingsNode::textOf(std::string_view path) const
{
    const SettingsNode *node = find(path);
    return node && node->kind == Kind::Scalar && !node->isNull() ? std::string_view(node->text) : std::string_view();
}

std::string SettingsNode::value() const
{
    if (!isList())
        return isQuoted ? text : argumentValue(text);
    std::string all = "[";
    for (const SettingsNode &item : below)
        if (all.size() < kLongestArgumentValue)
            all += (all.size() > 1 ? ", " : "") + item.text;
    return all + "]";
}

bool mayBeYaml(std::string_view head)
{
    for (std::size_t at = 0; at < head.size();) {
        const std::size_t end = std::min(head.find('\n', at), head.size());
        std::string_view line = trimmed(head.substr(at, end - at));
        at = end + 1;
        if (line.empty() || line[0] == '#' || line.starts_with("---"))
            continue;
        line = trimmedStart(line.substr(line.starts_with("- ") ? 2 : 0));
        const std::size_t colon = line.find(':');
        return colon != line.npos && colon > 0 && (colon + 1 == line.size() || line[colon + 1] == ' ')
            && std::ranges::all_of(line.substr(0, colon),
                [](char c) { return isNameChar(c) || std::string_view("-./\"'").find(c) != std::string_view::npos; });
    }
    return false;
}

void walkSettings(
    const SettingsNode &root, const std::function<void(const std::string &path, const SettingsNode &node)> &take)
{
    std::string path;
    walkFrom(path, root, take);
}

Expected<SettingsTree> settingsUpToError(std::string_view text, const std::string &file,
    const std::function<Expected<int>(std::string_view text, SettingsTree &made)> &parse)
{
    if (text.size() > kMostSettingsBytes)
        return std::unexpected(Error { ErrorCode::BadSyntax, file, "It is longer than 1 MiB", "settings" });
    int cutAt = 0;
    for (int i = 0, step = 0; i < kMostSettingsTries; ++i, step = i < 5 ? 1 : 2 * step) {
        SettingsTree tree;
        const auto line = parse(text, tree);
        if (!line)
            return std::unexpected(line.error());
        tree.cutAt = cutAt;
        if (*line == 0)
            return tree;
        // A bracket or a text that is never closed stops the library at the end: then ever more lines are left out.
        const auto lines = static_cast<int>(std::ranges::count(text, '\n')) + (text.ends_with('\n') ? 0 : 1);
        cutAt = std::max(1, std::min(*line, lines + 1 - step));
        text = text.substr(0, beginOfLine(text, cutAt));
        if (trimmed(text).empty())
            break;
    }
    return std::unexpected(Error {
        ErrorCode::BadSyntax, file, "It is no such text from line " + std::to_string(std::max(1, cutAt)) + " on", "" });
}

} // namespace trainyard::readers
