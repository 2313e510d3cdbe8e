// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/xml_scan.h"

#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <expat.h>

#include <algorithm>
#include <memory>

namespace trainyard::readers {

namespace {

constexpr std::size_t kPiece = std::size_t(1) << 20;
constexpr std::size_t kMostAttributes = 256;
constexpr int kDeepestElement = 512;

enum class XmlEnd { Whole, Truncated, Broken, HasEntities, TooDeep };

struct State {
    const XmlHandler &handler;
    XML_Parser parser;
    int depth = 0;
    XmlEnd stopped = XmlEnd::Whole;
    void stop(XmlEnd why)
    {
        stopped = why;
        XML_StopParser(parser, XML_FALSE);
    }
};

void onOpen(void *data, const XML_Char *name, const XML_Char **attributes)
{
    auto &state = *static_cast<State *>(data);
    if (++state.depth > kDeepestElement)
        return state.stop(XmlEnd::TooDeep);
    XmlElement element { name, {} };
    for (; *attributes && element.attributes.size() < kMostAttributes; attributes += 2)
        element.attributes.emplace_back(attributes[0], attributes[1]);
    state.handler.open(element);
}

void onClose(void *data, const XML_Char *name)
{
    auto &state = *static_cast<State *>(data);
    --state.depth;
    state.handler.close(name);
}

void onText(void *data, const XML_Char *text, int size)
{
    static_cast<State *>(data)->handler.text({ text, static_cast<std::size_t>(size) });
}

void onEntity(void *data, const XML_Char *, int, const XML_Char *, int, const XML_Char *, const XML_Char *,
    const XML_Char *, const XML_Char *)
{
    static_cast<State *>(data)->stop(XmlEnd::HasEntities);
}

XmlEnd scanned(std::string_view text, const XmlHandler &handler, ReadingPace &pace)
{
    // expat takes a declaration only at the very start
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
        XML_ParserCreate(nullptr), XML_ParserFree);
    if (!parser)
        return XmlEnd::Broken;
    State state { handler, parser.get() };
    XML_SetUserData(parser.get(), &state);
    XML_SetElementHandler(parser.get(), onOpen, onClose);
    if (handler.text)
        XML_SetCharacterDataHandler(parser.get(), onText);
    XML_SetEntityDeclHandler(parser.get(), onEntity);
    XML_SetParamEntityParsing(parser.get(), XML_PARAM_ENTITY_PARSING_NEVER);
    for (std::size_t at = 0; at <= text.size(); at += kPiece) {
        if (pace.isStopped(at))
            break;
        const std::string_view piece = text.substr(at, kPiece);
        const bool isLast = at + kPiece > text.size();
        if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), isLast) == XML_STATUS_OK)
            continue;
        if (state.stopped != XmlEnd::Whole)
            return state.stopped;
        switch (XML_GetErrorCode(parser.get())) {
        case XML_ERROR_NO_ELEMENTS:
        case XML_ERROR_UNCLOSED_TOKEN:
        case XML_ERROR_PARTIAL_CHAR:
        case XML_ERROR_UNCLOSED_CDATA_SECTION:
            return XmlEnd::Truncated;
        case XML_ERROR_JUNK_AFTER_DOC_ELEMENT: // a second document, or the prompt of a terminal
        default:
            return XmlEnd::Broken;
        }
    }
    return XmlEnd::Whole;
}

void tellXmlEnd(RecordingBuilder &scribe, XmlEnd end)
{
    switch (end) {
    case XmlEnd::Whole:
        break;
    case XmlEnd::Truncated:
        scribe.source().isTruncated = true;
        break;
    case XmlEnd::Broken:
        scribe.drop("what stands behind a place that is no XML");
        break;
    case XmlEnd::HasEntities:
        scribe.drop("what stands behind a declaration of entities, which are not read");
        break;
    case XmlEnd::TooDeep:
        scribe.drop("what stands deeper than 512 elements");
        break;
    }
}

} // namespace

std::string_view XmlElement::operator[](std::string_view attribute) const
{
    const auto found = std::ranges::find(attributes, attribute, [](const auto &one) { return one.first; });
    return found != attributes.end() ? found->second : std::string_view();
}

bool XmlElement::has(std::string_view attribute) const
{
    return std::ranges::any_of(attributes, [&](const auto &one) { return one.first == attribute; });
}

void scanXml(
    const SourceText &source, const SourceOptions &options, const XmlHandler &handler, RecordingBuilder &scribe)
{
    ReadingPace pace(source, options);
    tellXmlEnd(scribe, scanned(source.text, handler, pace));
}

std::string_view xmlRoot(std::string_view head)
{
    for (std::size_t at = head.find_first_not_of(" \t\r\n\xef\xbb\xbf"); at < head.size() && head[at] == '<';) {
        const std::string_view rest = head.substr(at);
        if (const bool isComment = rest.starts_with("<!--");
            isComment || rest.substr(1, 1) == "?" || rest.substr(1, 1) == "!") {
            const auto end = head.find(isComment ? "-->" : ">", at);
            at = end == std::string_view::npos ? end : head.find('<', end);
            continue;
        }
        const auto end = rest.find_first_of(" \t\r\n/>", 1);
        return rest.substr(1, end == std::string_view::npos ? end : end - 1);
    }
    return {};
}

} // namespace trainyard::readers
