// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/decoders/line_parser_internal.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace trainyard::live {

namespace {

namespace od = simdjson::ondemand;
static_assert(LineParser::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr const char *kBad = "is no JSON that can be read";

std::string_view unquoted(std::string_view token)
{
    while (!token.empty() && std::string_view(" \t\r\n,]}").find(token.back()) != std::string_view::npos)
        token.remove_suffix(1);
    if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
        token = token.substr(1, token.size() - 2);
    return token;
}

bool toWhole(std::string_view text, std::int64_t &value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc {} && end == text.data() + text.size();
}

/// What is no JSON number: NaN, Infinity, null, or a number in quotes.
bool toReal(std::string_view text, double &value)
{
    if (text == "null" || text == "NaN" || text == "nan")
        value = std::numeric_limits<double>::quiet_NaN();
    else if (text == "Infinity" || text == "inf" || text == "+Inf")
        value = std::numeric_limits<double>::infinity();
    else if (text == "-Infinity" || text == "-inf" || text == "-Inf")
        value = -std::numeric_limits<double>::infinity();
    else {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc {} && end == text.data() + text.size();
    }
    return true;
}

bool read(od::value from, std::int64_t &value)
{
    if (from.get_int64().get(value) == simdjson::SUCCESS)
        return true;
    const std::string_view token = unquoted(from.raw_json_token());
    if (token == "null")
        return value = kNoMoment, true;
    return toWhole(token, value);
}

bool read(od::value from, double &value)
{
    return from.get_double().get(value) == simdjson::SUCCESS || toReal(unquoted(from.raw_json_token()), value);
}

bool read(od::value from, std::string_view &value)
{
    if (from.get_string().get(value) == simdjson::SUCCESS)
        return true;
    value = {};
    return unquoted(from.raw_json_token()) == "null";
}

bool read(od::value from, bool &value)
{
    return from.get_bool().get(value) == simdjson::SUCCESS;
}

bool isArray(od::value from)
{
    od::json_type type {};
    return from.type().get(type) == simdjson::SUCCESS && type == od::json_type::array;
}

template <class T> bool readItems(od::value from, std::vector<T> &values)
{
    od::array items;
    if (from.get_array().get(items) != simdjson::SUCCESS)
        return false;
    for (auto item : items) {
        od::value inside;
        T value {};
        if (std::move(item).get(inside) != simdjson::SUCCESS || !read(inside, value))
            return false;
        values.push_back(value);
    }
    return true;
}

template <class T> bool read(od::value from, LineColumn<T> &column)
{
    column.clear();
    column.isArray = isArray(from);
    if (column.isArray)
        return readItems(from, column.values);
    return read(from, column.values.emplace_back());
}

/// Values of any type, as they are written.
bool readArguments(od::value from, LineEvent &event)
{
    od::object members;
    if (from.get_object().get(members) != simdjson::SUCCESS)
        return false;
    for (auto member : members) {
        od::field field;
        std::string_view key, text;
        if (std::move(member).get(field) != simdjson::SUCCESS || field.unescaped_key().get(key) != simdjson::SUCCESS)
            return false;
        od::value value = field.value();
        od::json_type type {};
        if (value.type().get(type) != simdjson::SUCCESS)
            return false;
        if (type == od::json_type::string) {
            if (value.get_string().get(text) != simdjson::SUCCESS)
                return false;
        } else if (type == od::json_type::array || type == od::json_type::object) {
            if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS)
                return false;
        } else {
            text = unquoted(value.raw_json_token());
        }
        event.arguments.emplace_back(key, text);
    }
    return true;
}

LineEventKind kindOf(std::string_view name)
{
    using enum LineEventKind;
    if (name == "span" || name == "spans")
        return Span;
    if (name == "sample" || name == "samples")
        return Sample;
    if (name == "collective" || name == "collectives")
        return Collective;
    if (name == "step" || name == "steps")
        return Step;
    if (name == "hello")
        return Hello;
    if (name == "arguments")
        return Arguments;
    if (name == "group")
        return Group;
    return name == "end" ? End : Unknown;
}

bool readEvent(od::value from, LineEvent &event)
{
    std::string_view name;
    if (!read(from, name))
        return false;
    event.kind = kindOf(name);
    event.hasEvent = true;
    return true;
}

bool readRank(od::value from, LineEvent &event)
{
    std::int64_t rank = 0;
    if (!read(from, rank) || (rank != kNoMoment && (rank < -1 || rank >= (1 << 24))))
        return false;
    event.rank = rank == kNoMoment ? -1 : static_cast<int>(rank);
    return true;
}

bool readHost(od::value from, LineEvent &event)
{
    std::string_view host;
    if (!read(from, host))
        return false;
    event.host = host;
    return true;
}

using Take = bool (*)(od::value from, LineEvent &event);
template <auto member> bool take(od::value from, LineEvent &event)
{
    return read(from, event.*member);
}

struct Key {
    std::string_view name;
    Take take;
};

constexpr Key kKeys[] = {
    { "event", readEvent },
    { "name", take<&LineEvent::name> },
    { "start_ns", take<&LineEvent::start> },
    { "duration_ns", take<&LineEvent::duration> },
    { "value", take<&LineEvent::value> },
    { "at_ns", take<&LineEvent::at> },
    { "rank", readRank },
    { "stream", take<&LineEvent::stream> },
    { "work", take<&LineEvent::work> },
    { "unit", take<&LineEvent::unit> },
    { "where", take<&LineEvent::where> },
    { "step", take<&LineEvent::step> },
    { "group", take<&LineEvent::group> },
    { "operation", take<&LineEvent::operation> },
    { "bytes", take<&LineEvent::bytes> },
    { "sequence", take<&LineEvent::sequence> },
    { "number", take<&LineEvent::number> },
    { "end_ns", take<&LineEvent::end> },
    { "launched_ns", take<&LineEvent::launched> },
    { "gpu_stream", take<&LineEvent::isGpu> },
    { "device", take<&LineEvent::device> },
    { "stream_number", take<&LineEvent::streamNumber> },
    { "host", readHost },
    { "ranks", [](od::value from, LineEvent &event) { return readItems(from, event.ranks); } },
    { "description", take<&LineEvent::description> },
    { "values", readArguments },
    { "format", take<&LineEvent::format> },
    { "version", take<&LineEvent::version> },
    { "run", take<&LineEvent::run> },
    { "world_size", take<&LineEvent::worldSize> },
    { "gpu", take<&LineEvent::gpu> },
};

Take takerOf(std::string_view key)
{
    for (const Key &known : kKeys)
        if (known.name == key)
            return known.take;
    return nullptr;
}

} // namespace

std::optional<std::size_t> LineEvent::size() const
{
    std::optional<std::size_t> size;
    bool isEqual = true;
    const auto look = [&](const auto &column) {
        if (!column.isArray)
            return;
        isEqual = isEqual && (!size || *size == column.values.size());
        size = column.values.size();
    };
    look(name), look(work), look(group), look(operation);
    look(number), look(start), look(end), look(duration), look(launched), look(sequence), look(step), look(at);
    look(value), look(bytes);
    if (!isEqual)
        return std::nullopt;
    return size.value_or(1);
}

void LineEvent::clear()
{
    kind = LineEventKind::Unknown;
    hasEvent = false;
    rank.reset();
    host.reset();
    format = run = gpu = unit = where = stream = description = {};
    version = worldSize = device = streamNumber = 0;
    isGpu = true;
    name.clear(), work.clear(), group.clear(), operation.clear();
    number.clear(), start.clear(), end.clear(), duration.clear(), launched.clear(), sequence.clear(), step.clear();
    at.clear(), value.clear(), bytes.clear();
    ranks.clear();
    arguments.clear();
}

struct LineParser::Private {
    od::parser parser;
};

LineParser::LineParser()
    : d(std::make_unique<Private>())
{
}

LineParser::~LineParser() = default;

const char *LineParser::parse(const char *text, std::size_t size, LineEvent &event)
{
    event.clear();
    od::document document;
    od::object members;
    const simdjson::error_code opened =
        d->parser.iterate(simdjson::padded_string_view(text, size, size + simdjson::SIMDJSON_PADDING)).get(document);
    if (opened == simdjson::UTF8_ERROR)
        return "has bytes that are no UTF-8";
    if (opened != simdjson::SUCCESS || document.get_object().get(members) != simdjson::SUCCESS)
        return "is no JSON object";
    for (auto member : members) {
        od::field field;
        if (std::move(member).get(field) != simdjson::SUCCESS)
            return kBad;
        std::string_view key;
        if (field.unescaped_key().get(key) != simdjson::SUCCESS)
            return kBad;
        const Take taker = takerOf(key);
        if (taker && !taker(field.value(), event))
            return "has a value of another type than its key wants";
    }
    const char *rest = nullptr;
    const auto where = document.current_location();
    if (where.error() == simdjson::SUCCESS && where.value_unsafe() != nullptr)
        rest = where.value_unsafe();
    if (rest && rest < text + size)
        return "has something behind its object";
    return nullptr;
}

} // namespace trainyard::live
