#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// XML from strangers, by expat: elements and their attributes as they come. No entity is ever expanded and no DTD is
// read: a file that declares entities is not read. A file that ends early or is broken is told as far as it goes.

#include "core/runs/telemetry/readers/recording_builder.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::readers {

struct XmlElement {
    std::string_view name;
    std::vector<std::pair<std::string_view, std::string_view>> attributes;
    [[nodiscard]] std::string_view operator[](std::string_view attribute) const; // empty where it has none
    [[nodiscard]] bool has(std::string_view attribute) const;
};

struct XmlHandler {
    std::function<void(const XmlElement &)> open;
    std::function<void(std::string_view name)> close;
    std::function<void(std::string_view piece)> text = {};
};

/// What keeps the XML from being whole is noted on the source.
void scanXml(
    const SourceText &source, const SourceOptions &options, const XmlHandler &handler, RecordingBuilder &scribe);
/// The name of the first element in the head of a file; empty where it is no XML.
[[nodiscard]] std::string_view xmlRoot(std::string_view head);

} // namespace trainyard::readers
