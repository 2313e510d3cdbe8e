// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/session/session_io.h"

#include "core/base/output_file.h"
#include "core/base/text_file.h"
#include "core/facts/plan/named_files.h"
#include "core/facts/plan/plan_json_internal.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace trainyard {

namespace {

using detail::brief;
using detail::Json;

constexpr const char *kSessionFormat = "trainyard.session";

/// Reads a session's document and collects what is wrong, each with its pointer.
class SessionReader {
public:
    SessionReader(const std::string &fileName, const std::string &baseDir)
        : m_file(fileName)
        , m_baseDir(baseDir)
    {
    }

    ExpectedAll<Session> read(const Json &document)
    {
        if (!document.is_object())
            return std::unexpected(
                Errors { { ErrorCode::BadSyntax, m_file, "is " + brief(document), "an object, a session" } });
        if (!isOurs(document))
            return std::unexpected(std::move(m_errors));
        Session session;
        for (const Json &variant : listOf(document, "variants", kMostVariants))
            session.variants.push_back(variantFrom(variant, "/variants/" + std::to_string(session.variants.size())));
        checkIds(session);
        text(document, "baseline", "", session.baseline, "the id of a variant, or null");
        if (!session.baseline.empty() && !session.variant(session.baseline))
            fault("/baseline", "no variant has the id \"" + session.baseline + "\"", "one of " + idsOf(session),
                ErrorCode::UnknownName);
        for (const Json &decision : listOf(document, "decisions", kMostDecisions))
            session.decisions.push_back(
                decisionFrom(decision, "/decisions/" + std::to_string(session.decisions.size())));
        if (const auto view = document.find("view"); view != document.end() && !view->is_null()) {
            if (!view->is_object())
                fault("/view", "view is " + brief(*view), "an object, or null");
            else
                session.view = view->dump();
        }
        session.kept = kept(document, { "format", "version", "variants", "baseline", "decisions", "view" });
        if (!m_errors.empty())
            return std::unexpected(std::move(m_errors));
        return session;
    }

private:
    static constexpr std::size_t kMostDecisions = 100'000;

    void fault(const std::string &pointer, std::string what, std::string right, ErrorCode code = ErrorCode::BadValue)
    {
        if (m_errors.size() < detail::kMaxErrors)
            m_errors.push_back({ code, m_file + ": " + pointer, std::move(what), std::move(right) });
    }

    bool isOurs(const Json &document)
    {
        const Json format = document.value("format", Json()),
                   version = document.value("version", Json(kSessionVersion));
        if (format != kSessionFormat)
            fault("/format", "format is " + brief(format), std::string("\"") + kSessionFormat + "\"",
                ErrorCode::BadSyntax);
        else if (version.is_number_unsigned() && version.get<std::uint64_t>() > kSessionVersion)
            fault("/version", "the file is of version " + brief(version) + ", written by a newer Trainyard",
                "a version up to " + std::to_string(kSessionVersion), ErrorCode::BadSyntax);
        else if (version != kSessionVersion)
            fault("/version", "version is " + brief(version), std::to_string(kSessionVersion), ErrorCode::BadSyntax);
        return m_errors.empty();
    }

    /// Its items; none, with a fault, where it is no list or too long.
    const Json &listOf(const Json &document, const char *key, std::size_t most)
    {
        static const Json kNone = Json::array();
        const auto found = document.find(key);
        if (found == document.end() || found->is_null())
            return kNone;
        const std::string right = "a list of at most " + std::to_string(most);
        if (!found->is_array())
            fault(std::string("/") + key, std::string(key) + " is " + brief(*found), right);
        else if (found->size() > most)
            fault(std::string("/") + key, std::string(key) + " has " + std::to_string(found->size()) + " items", right);
        else
            return *found;
        return kNone;
    }

    /// Leaves the target alone where the key is absent or null.
    void text(const Json &object, const char *key, const std::string &at, std::string &target, const char *right)
    {
        const auto found = object.find(key);
        if (found == object.end() || found->is_null())
            return;
        if (found->is_string())
            target = found->get<std::string>();
        else
            fault(at + "/" + key, std::string(key) + " is " + brief(*found), right);
    }

    static std::string kept(const Json &object, std::initializer_list<const char *> known)
    {
        Json others = Json::object();
        for (const auto &[key, value] : object.items())
            if (std::ranges::none_of(known, [&key = key](const char *name) { return key == name; }))
                others[key] = value;
        return others.empty() ? std::string() : others.dump();
    }

    Variant variantFrom(const Json &json, const std::string &at)
    {
        Variant variant;
        variant.plan = std::make_shared<const Plan>();
        if (!json.is_object()) {
            fault(at, "is " + brief(json), "an object, a variant with id, name and plan");
            return variant;
        }
        text(json, "id", at, variant.id, "a text, unique in the file");
        text(json, "name", at, variant.name, "a text");
        text(json, "color", at, variant.color, "\"#rrggbb\", or null");
        text(json, "note", at, variant.note, "a text, or null");
        if (!variant.color.empty() && !isColor(variant.color))
            fault(at + "/color", "color is \"" + variant.color + "\"", "\"#rrggbb\", or null");
        if (variant.name.empty())
            variant.name = variant.id;
        variant.kept = kept(json, { "id", "name", "color", "note", "plan" });
        if (const auto plan = json.find("plan"); plan == json.end())
            fault(at, "a variant without plan", "plan, an object as in a plan file");
        else
            variant.plan = planFrom(*plan, at + "/plan");
        return variant;
    }

    PlanPtr planFrom(const Json &json, const std::string &at)
    {
        auto current = detail::migrated(json, m_file);
        if (!current) {
            takeErrors({ std::move(current.error()) }, at);
            return std::make_shared<const Plan>();
        }
        auto plan = detail::planFromJson(*current, m_file, detail::Where::Pointer);
        if (!plan) {
            takeErrors(std::move(plan.error()), at);
            return std::make_shared<const Plan>();
        }
        plan->baseDir = m_baseDir;
        return std::make_shared<const Plan>(std::move(*plan));
    }

    /// A plan's errors say where in the plan.
    void takeErrors(Errors errors, const std::string &at)
    {
        for (Error &error : errors) {
            const std::string plain = m_file + ": ";
            const std::string inside =
                error.where.starts_with(plain) ? error.where.substr(plain.size()) : std::string();
            fault(at + inside, std::move(error.what), std::move(error.right), error.code);
        }
    }

    Decision decisionFrom(const Json &json, const std::string &at)
    {
        Decision decision;
        if (!json.is_object()) {
            fault(at, "is " + brief(json), "an object, a decision with at and text");
            return decision;
        }
        text(json, "at", at, decision.at, "a time in UTC, \"2026-11-30T09:41:00Z\"");
        text(json, "text", at, decision.text, "a text");
        text(json, "variant", at, decision.variant, "the id of a variant, or null");
        decision.kept = kept(json, { "at", "text", "variant" });
        return decision;
    }

    static bool isColor(const std::string &text)
    {
        return text.size() == 7 && text[0] == '#'
            && text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
    }

    void checkIds(const Session &session)
    {
        std::set<std::string, std::less<>> ids;
        for (std::size_t i = 0; i < session.variants.size(); ++i) {
            const std::string &id = session.variants[i].id, at = "/variants/" + std::to_string(i) + "/id";
            if (id.empty())
                fault(at, "the id is empty", "a text, unique in the file");
            else if (!ids.insert(id).second)
                fault(at, "two variants have the id \"" + id + "\"", "an id that no other variant has");
        }
    }

    static std::string idsOf(const Session &session)
    {
        std::string ids;
        for (const Variant &variant : session.variants)
            ids += (ids.empty() ? "" : ", ") + variant.id;
        return ids.empty() ? "null: there are no variants" : ids;
    }

    const std::string &m_file, &m_baseDir;
    Errors m_errors;
};

/// The keys that were kept, behind those that this version writes.
void addKept(Json &object, const std::string &kept)
{
    if (kept.empty())
        return;
    const Json others = Json::parse(kept, nullptr, false);
    if (others.is_object())
        for (const auto &[key, value] : others.items())
            object[key] = value;
}

void addText(Json &object, const char *key, const std::string &text)
{
    if (!text.empty())
        object[key] = text;
}

Json toJson(const Variant &variant)
{
    Json json = Json::object();
    json["id"] = variant.id;
    json["name"] = variant.name;
    addText(json, "color", variant.color);
    addText(json, "note", variant.note);
    json["plan"] = detail::planToJson(*variant.plan);
    addKept(json, variant.kept);
    return json;
}

Json toJson(const Decision &decision)
{
    Json json = Json::object();
    json["at"] = decision.at;
    json["text"] = decision.text;
    addText(json, "variant", decision.variant);
    addKept(json, decision.kept);
    return json;
}

} // namespace

bool isSessionPath(std::string_view path)
{
    return path.ends_with(".trainyard-session");
}

ExpectedAll<Session> parseSession(std::string_view json, const std::string &fileName, const std::string &baseDir)
{
    const auto document = detail::parseJson(json, fileName);
    if (!document)
        return std::unexpected(document.error());
    return SessionReader(fileName, baseDir).read(*document);
}

ExpectedAll<Session> readSession(const std::string &path)
{
    const auto text = readTextFile(path, kSessionFile, { .mostBytes = kMostTableBytes });
    if (!text)
        return std::unexpected(Errors { text.error() });
    return parseSession(*text, path, std::filesystem::path(path).parent_path().string());
}

std::string formatSession(const Session &session)
{
    Json json = Json::object();
    json["format"] = kSessionFormat;
    json["version"] = kSessionVersion;
    json["variants"] = Json::array();
    for (const Variant &variant : session.variants)
        json["variants"].push_back(toJson(variant));
    json["baseline"] = session.baseline.empty() ? Json() : Json(session.baseline);
    json["decisions"] = Json::array();
    for (const Decision &decision : session.decisions)
        json["decisions"].push_back(toJson(decision));
    if (!session.view.empty())
        json["view"] = Json::parse(session.view, nullptr, false);
    addKept(json, session.kept);
    return detail::prettyJson(json) + "\n";
}

Expected<void> writeSession(const Session &session, const std::string &path)
{
    Session written = session;
    const std::string folder = std::filesystem::path(path).parent_path().string();
    for (Variant &variant : written.variants)
        variant.plan = std::make_shared<const Plan>(rebased(*variant.plan, folder));
    const std::string text = formatSession(written);
    return writeOutputFile(
        path, [&](std::ostream &out) { out << text; }, OutputKinds::RegularOnly);
}

} // namespace trainyard
