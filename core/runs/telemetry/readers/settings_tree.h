#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as YAML, JSON and TOML hold them: maps, lists and scalars with the line each stands on. yaml-cpp and toml++
// read them; all readers of settings see this tree alone. Aliases and merge keys ("<<") of YAML are put in, within
// bounds: a file made to grow is refused. Of a text that is cut, or that stops to be YAML or TOML somewhere, what
// stands before that line is the tree. Values; pure functions, any thread.

#include "core/base/error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

struct SettingsNode {
    enum class Kind : std::uint8_t { Scalar, Map, List };
    Kind kind = Kind::Scalar;
    /// of a scalar: it is a text, whatever it looks like
    bool isQuoted = false;
    /// from 1
    int line = 0;
    /// of an entry of a map
    std::string key;
    /// of a scalar, without quotes; TOML's 8_192 is 8192
    std::string text;
    /// entries of a map, items of a list, in their order
    std::vector<SettingsNode> below;

    [[nodiscard]] bool isMap() const { return kind == Kind::Map; }
    [[nodiscard]] bool isList() const { return kind == Kind::List; }
    /// null, ~ or nothing
    [[nodiscard]] bool isNull() const;
    /// Of a list: none of its items is a map or a list.
    [[nodiscard]] bool isListOfScalars() const;
    /// "training.seq_len": the entry of maps in maps; nullptr where there is none.
    [[nodiscard]] const SettingsNode *find(std::string_view path) const;
    /// The text of the scalar there; empty where there is none.
    [[nodiscard]] std::string_view textOf(std::string_view path) const;
    /// Of a scalar its text, "True" and "False" of switches; of a list "[a, b]".
    [[nodiscard]] std::string value() const;
};

struct SettingsTree {
    SettingsNode root;
    /// The line from which on the text is none of the format; 0: it is whole.
    int cutAt = 0;
    /// YAML: further documents follow, which are not in the tree.
    bool hasMore = false;
};

/// Nodes of a tree with all aliases put in, and maps in maps.
inline constexpr std::size_t kMostSettings = 100'000, kMostSettingsDepth = 64,
                             kMostSettingsBytes = std::size_t(1) << 20;

/// YAML, and JSON as a part of it. Errors: BadSyntax with the line: longer than 1 MiB, no line of it is YAML, more
/// than kMostSettings nodes or kMostSettingsDepth maps in maps.
[[nodiscard]] Expected<SettingsTree> yamlSettings(std::string_view text, const std::string &file = {});
/// TOML, with the same bounds and errors.
[[nodiscard]] Expected<SettingsTree> tomlSettings(std::string_view text, const std::string &file = {});

/// Whether the first line that is neither empty nor a comment is one of a YAML map or of a list of maps.
[[nodiscard]] bool mayBeYaml(std::string_view head);

/// Every scalar and every list of scalars, in their order, with its path: keys joined by dots, items of other lists by
/// their number ("nodes.0.name").
void walkSettings(
    const SettingsNode &root, const std::function<void(const std::string &path, const SettingsNode &node)> &take);

/// How the readers of one format ask their library, with what is left where it stops: `parse` gives the line that it
/// stops at (0: it is whole, the tree is made), or an error for a text that must not be read.
[[nodiscard]] Expected<SettingsTree> settingsUpToError(std::string_view text, const std::string &file,
    const std::function<Expected<int>(std::string_view text, SettingsTree &made)> &parse);

} // namespace trainyard::readers
