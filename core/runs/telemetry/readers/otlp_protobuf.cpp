// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/otlp.h"
#include "core/runs/telemetry/readers/otlp_collector.h"
#include "core/runs/telemetry/readers/wire_message.h"

#include <algorithm>
#include <charconv>

namespace trainyard::readers {

namespace {

/// Goes over the fields of one message; of one that is cut, with what is there of its last.
class OtlpFields {
public:
    explicit OtlpFields(std::string_view bytes)
        : m_fields(bytes, WireMessage::Cut::Given)
    {
    }

    bool next() { return m_fields.next(m_field); }
    [[nodiscard]] std::uint64_t field() const { return m_field.number; }
    [[nodiscard]] bool isMessage() const { return m_field.isBytes(); }
    [[nodiscard]] bool isFixed64() const { return m_field.type == 1; }
    [[nodiscard]] std::string_view message() const { return m_field.bytes; }
    [[nodiscard]] std::uint64_t number() const { return m_field.value; }
    [[nodiscard]] std::int64_t integer() const { return m_field.whole(); }
    [[nodiscard]] double real() const { return m_field.real(); }
    [[nodiscard]] bool isCut() const { return m_field.isCut || m_fields.isCut(); }
    [[nodiscard]] bool isBroken() const { return m_fields.isWrong(); }

private:
    WireMessage m_fields;
    WireField m_field;
};

std::string numberText(auto value)
{
    char text[40];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);
    return error == std::errc() ? std::string(text, end) : std::string();
}

std::string anyText(std::string_view message)
{
    for (OtlpFields value(message); value.next();) {
        if (value.field() == 1 && value.isMessage())
            return std::string(value.message());
        if (value.field() == 2)
            return value.number() ? "true" : "false";
        if (value.field() == 3)
            return numberText(value.integer());
        if (value.field() == 4 && value.isFixed64())
            return numberText(value.real());
    }
    return {};
}

void addAttribute(std::string_view message, MetricLabels &attributes)
{
    if (attributes.size() >= kMostAttributes)
        return;
    std::string key, value;
    for (OtlpFields fields(message); fields.next();)
        if (fields.field() == 1 && fields.isMessage())
            key = fields.message();
        else if (fields.field() == 2 && fields.isMessage())
            value = anyText(fields.message());
    attributes.emplace_back(std::move(key), std::move(value));
}

/// The first field 1 of the message that is text: a scope's name.
std::string firstText(std::string_view message)
{
    for (OtlpFields fields(message); fields.next();)
        if (fields.field() == 1 && fields.isMessage())
            return std::string(fields.message());
    return {};
}

/// What lies in a scope: known by the wire types of its first fields.
enum class Signal : std::uint8_t { Unknown, Metric, Span, Log };

Signal signalOf(std::string_view item)
{
    OtlpFields fields(item);
    if (!fields.next())
        return Signal::Unknown;
    if ((fields.field() == 1 || fields.field() == 11) && fields.isFixed64())
        return Signal::Log;
    if (fields.field() == 2 && !fields.isMessage())
        return Signal::Log;
    if (fields.field() != 1 || !fields.isMessage())
        return Signal::Unknown;
    const std::string_view first = fields.message();
    if (fields.next() && fields.field() == 2 && fields.isMessage() && first.size() == 16
        && fields.message().size() == 8)
        return Signal::Span;
    const bool isText = std::ranges::all_of(first, [](char byte) { return byte >= ' ' && byte < 127; });
    return isText && !first.empty() ? Signal::Metric : Signal::Unknown;
}

class ProtobufMessages {
public:
    explicit ProtobufMessages(OtlpCollector &to)
        : m_to(to)
    {
    }

    /// False: there is something else in it.
    bool add(std::string_view bytes)
    {
        OtlpFields fields(bytes);
        while (fields.next()) {
            if (fields.field() == 1 && fields.isMessage())
                addResource(fields.message());
            m_isTruncated |= fields.isCut();
        }
        m_isTruncated |= fields.isCut();
        return !fields.isBroken();
    }

    [[nodiscard]] bool isTruncated() const { return m_isTruncated; }

private:
    void addResource(std::string_view message)
    {
        MetricLabels attributes;
        for (OtlpFields fields(message); fields.next();)
            if (fields.field() == 1 && fields.isMessage() && !fields.isCut())
                for (OtlpFields resource(fields.message()); resource.next();)
                    if (resource.field() == 1 && resource.isMessage())
                        addAttribute(resource.message(), attributes);
        m_to.setResource(attributes);
        for (OtlpFields fields(message); fields.next();)
            if (fields.field() == 2 && fields.isMessage())
                addScope(fields.message());
    }

    void addScope(std::string_view message)
    {
        for (OtlpFields fields(message); fields.next();) {
            if (fields.field() == 1 && fields.isMessage())
                m_to.setScope(firstText(fields.message()));
            if (fields.field() != 2 || !fields.isMessage())
                continue;
            const Signal signal = signalOf(fields.message());
            if (signal == Signal::Metric)
                addMetric(fields.message());
            else if (!fields.isCut() && signal == Signal::Span)
                addSpan(fields.message());
            else if (!fields.isCut() && signal == Signal::Log)
                addLog(fields.message());
            else
                m_to.scribe().drop(fields.isCut() ? "a last item that is cut" : "items of an unknown kind");
        }
    }

    void addMetric(std::string_view message)
    {
        OtlpMetric metric;
        for (OtlpFields fields(message); fields.next();) {
            if (!fields.isMessage())
                continue;
            if (fields.field() == 1)
                metric.name = heldText(fields.message());
            else if (fields.field() == 3)
                metric.unit = heldText(fields.message());
            else if (fields.field() == 5 || fields.field() == 7 || (fields.field() >= 9 && fields.field() <= 11))
                addData(metric, fields.field(), fields.message());
        }
    }

    void addData(OtlpMetric metric, std::uint64_t kind, std::string_view message)
    {
        metric.kind = kind == 5 ? OtlpKind::Gauge : kind == 7 ? OtlpKind::Sum : OtlpKind::Distribution;
        for (OtlpFields fields(message); fields.next();) // it stands behind the points
            if (fields.field() == 2 && !fields.isMessage())
                metric.isDelta = fields.number() == 1;
        for (OtlpFields fields(message); fields.next();)
            if (fields.field() == 1 && fields.isMessage()) {
                if (fields.isCut())
                    m_to.scribe().drop("a last point that is cut");
                else
                    addPoint(metric, kind, fields.message());
            }
    }

    void addPoint(const OtlpMetric &metric, std::uint64_t kind, std::string_view message)
    {
        OtlpPoint point;
        bool hasValue = false;
        const std::uint64_t attributes = kind == 9 ? 9 : kind == 10 ? 1 : 7;
        const std::uint64_t flags = kind == 9 || kind == 10 ? 10 : 8;
        for (OtlpFields fields(message); fields.next();) {
            const std::uint64_t field = fields.field();
            if (field == attributes && fields.isMessage())
                addAttribute(fields.message(), point.attributes);
            else if (field == flags && !fields.isMessage())
                point.isMissing = (fields.number() & 1) != 0;
            else if (!fields.isFixed64())
                continue;
            else if (field == 2)
                point.start = fields.integer();
            else if (field == 3)
                point.time = fields.integer();
            else if (metric.kind == OtlpKind::Distribution && field == 4)
                point.count = static_cast<double>(fields.number());
            else if (field == (metric.kind == OtlpKind::Distribution ? 5u : 4u))
                point.value = fields.real(), hasValue = true;
            else if (metric.kind != OtlpKind::Distribution && field == 6)
                point.value = static_cast<double>(fields.integer()), hasValue = true;
        }
        if (hasValue || point.isMissing)
            m_to.add(metric, std::move(point));
        else
            m_to.scribe().drop("points without a value");
    }

    void addSpan(std::string_view message)
    {
        OtlpSpan span;
        for (OtlpFields fields(message); fields.next();)
            if (fields.field() == 5 && fields.isMessage())
                span.name = fields.message();
            else if (fields.field() == 7 && fields.isFixed64())
                span.start = fields.integer();
            else if (fields.field() == 8 && fields.isFixed64())
                span.end = fields.integer();
            else if (fields.field() == 9 && fields.isMessage())
                addAttribute(fields.message(), span.attributes);
        m_to.add(span);
    }

    void addLog(std::string_view message)
    {
        std::string body;
        std::int64_t time = 0, observed = 0;
        for (OtlpFields fields(message); fields.next();)
            if (fields.field() == 1 && fields.isFixed64())
                time = fields.integer();
            else if (fields.field() == 11 && fields.isFixed64())
                observed = fields.integer();
            else if (fields.field() == 5 && fields.isMessage())
                body = anyText(fields.message());
        m_to.addLog(body, time > 0 ? time : observed);
    }

    OtlpCollector &m_to;
    bool m_isTruncated = false;
};

/// The field `number` of the message, or nothing.
std::string_view messageAt(std::string_view bytes, std::uint64_t number, bool &isFound)
{
    isFound = false;
    for (OtlpFields fields(bytes); fields.next();)
        if (fields.field() == number && fields.isMessage()) {
            isFound = true;
            return fields.message();
        }
    return {};
}

} // namespace

int looksLikeOtlpProtobuf(std::string_view, std::string_view head)
{
    if (head.empty() || head.front() != '\n')
        return 0;
    OtlpFields fields(head);
    if (!fields.next() || fields.field() != 1 || !fields.isMessage())
        return 0;
    bool hasScope = false, hasItem = false, hasResource = false;
    const std::string_view resource = fields.message();
    const std::string_view scope = messageAt(resource, 2, hasScope);
    const std::string_view item = messageAt(scope, 2, hasItem);
    if (hasScope && hasItem && signalOf(item) != Signal::Unknown)
        return 85;
    const std::string_view attributes = messageAt(resource, 1, hasResource);
    return hasResource && attributes.find("service.") != std::string_view::npos ? 70 : 0;
}

Expected<Recording> readOtlpProtobuf(const SourceText &source, const SourceOptions &options)
{
    return readOtlpProtobuf(source, options, nullptr);
}

Expected<Recording> readOtlpProtobuf(const SourceText &source, const SourceOptions &, OtlpHistory *history)
{
    OtlpCollector collector(source, SourceKind::OtlpProtobuf, history);
    ProtobufMessages messages(collector);
    if (!messages.add(source.text))
        collector.scribe().drop("bytes that are no protobuf, from there on");
    collector.scribe().source().isTruncated |= messages.isTruncated();
    return collector.finish(source);
}

} // namespace trainyard::readers
